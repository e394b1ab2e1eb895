// Matrices of whole numbers modulo a prime p, held as float64: every product of residues is below 2^52 and exact.
#include <algorithm>
#include <cmath>

#include "arrays.hpp"

namespace linsep {
// x mod p for whole x below 2^52: the quotient may be one off, which is put right.
static inline double reduce(double x, double p, double inverse_p) {
  double r = x - std::floor(x * inverse_p) * p;
  r += r < 0.0 ? p : 0.0;  // a number chosen, not a sum: so that compilers make vectors of it
  return r - (r >= p ? p : 0.0);
}

// a⁻¹ mod p by Euclid's algorithm.
static double inverse(double a, double p) {
  int64_t r0 = int64_t(p), r1 = int64_t(a), t0 = 0, t1 = 1;
  while (r1 != 0) {
    const int64_t q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
    r0 = r1, r1 = r, t0 = t1, t1 = t;
  }
  return double(t0 < 0 ? t0 + int64_t(p) : t0);
}

// row ← row − f·top mod p, from column `start` on
static void subtract(double* row, const double* top, double f, double p, double inverse_p, int64_t start, int64_t stop) {
  const double g = p - f;
  for (int64_t j = start; j < stop; ++j) row[j] = reduce(row[j] + g * top[j], p, inverse_p);
}

static void require_residues(Matrix<double> B, double p) {
  require(2.0 <= p && p <= double(1 << 26) && p == std::floor(p), "p must be a prime below 2^26");
  bool whole = true;
  for (int64_t k = 0; k < B.size(); ++k) whole &= 0.0 <= B[k] && B[k] < p && B[k] == std::floor(B[k]);
  require(whole, "the numbers must be residues modulo p");
}

// Gaussian elimination modulo p; writes pivot rows and columns, returns the rank. `order` is room for the numbers of the rows, and has
// the order in which they were taken.
static int64_t eliminate(Matrix<double> B, double p, Vector<int64_t> order, Vector<int64_t> rows, Vector<int64_t> columns) {
  const int64_t m = B.shape[0], d = B.shape[1], most = std::min(m, d);
  require(order.shape[0] == m && rows.shape[0] >= most && columns.shape[0] >= most, "there must be room for every pivot");
  require_residues(B, p);
  for (int64_t i = 0; i < m; ++i) order[i] = i;
  const double inverse_p = 1.0 / p;
  int64_t rank = 0;
  for (int64_t j = 0; j < d && rank < m; ++j) {
    int64_t pivot = rank;
    while (pivot < m && B(order[pivot], j) == 0.0) ++pivot;
    if (pivot == m) continue;
    std::swap(order[rank], order[pivot]);
    const int64_t top = order[rank];
    rows[rank] = top;
    columns[rank] = j;
    const double scale = inverse(B(top, j), p);
    for (int64_t i = rank + 1; i < m; ++i) {
      double* row = B.row(order[i]);
      if (row[j] != 0.0) subtract(row, B.row(top), reduce(row[j] * scale, p, inverse_p), p, inverse_p, j, d);
    }
    ++rank;
  }
  return rank;
}

// Gauss-Jordan on [A | I] modulo p, in place; false where A is singular modulo p.
static bool invert(Matrix<double> B, double p) {
  const int64_t n = B.shape[0];
  require(B.shape[1] == 2 * n, "B must be a square matrix beside another");
  require_residues(B, p);
  const double inverse_p = 1.0 / p;
  for (int64_t j = 0; j < n; ++j) {
    int64_t pivot = j;
    while (pivot < n && B(pivot, j) == 0.0) ++pivot;
    if (pivot == n) return false;
    if (pivot != j) std::swap_ranges(B.row(j), B.row(j) + 2 * n, B.row(pivot));
    double* top = B.row(j);
    const double scale = inverse(top[j], p);
    for (int64_t k = j; k < 2 * n; ++k) top[k] = reduce(top[k] * scale, p, inverse_p);
    for (int64_t i = 0; i < n; ++i)
      if (i != j && B(i, j) != 0.0) subtract(B.row(i), top, B(i, j), p, inverse_p, j, 2 * n);
  }
  return true;
}

void bind_modular(nb::module_ m) {
  def(m, "eliminate", eliminate, "Pivot rows and columns of a matrix modulo a prime; returns the rank.");
  def(m, "invert", invert, "The inverse of a matrix modulo a prime, in place of the unit matrix beside it; whether there is one.");
}
}  // namespace linsep
