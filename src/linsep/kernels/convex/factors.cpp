// Systems of few equations, positive definite ones.
#include "arrays.hpp"
#include "vectors.hpp"

namespace linsep {
// x ← A⁻¹g by Cholesky's factor of A, scaled to a unit diagonal, so that the units of features do not decide what
// counts as singular. `room` has a row more than A; entries above the diagonal are not read. Returns ⟨g, x⟩; −1 where A
// is singular to the digits it has. Columns that are zero keep a zero.
static double solve(Matrix<const double> A, Vector<const double> g, Matrix<double> room, Vector<double> x) {
  const int64_t n = g.shape[0];
  require(A.shape[0] == n && A.shape[1] == n && x.shape[0] == n, "A must be square, with a row for each number of g and x");
  require(room.shape[0] == n + 1 && room.shape[1] == n, "room must have a row more than A");
  double *scale = room.row(n), least = 1.0;
  for (int64_t j = 0; j < n; ++j) scale[j] = A(j, j) > 0.0 ? 1.0 / std::sqrt(A(j, j)) : 0.0;
  for (int64_t j = 0; j < n; ++j) {
    double* row = room.row(j);
    for (int64_t k = 0; k < j; ++k) row[k] = (A(j, k) * scale[j] * scale[k] - inner(row, room.row(k), k)) / room(k, k);
    const double left = 1.0 + 1e-15 - inner(row, row, j);
    if (!(left > 0.0)) return -1.0;
    row[j] = std::sqrt(left);
    least = left < least ? left : least;
  }
  if (!(least > 1e-15 * double(n))) return -1.0;
  for (int64_t j = 0; j < n; ++j) x[j] = (g[j] * scale[j] - inner(room.row(j), x.data, j)) / room(j, j);
  const double gain = inner(x.data, x.data, n);
  for (int64_t j = n - 1; j >= 0; --j) {
    x[j] /= room(j, j);
    accumulate(room.row(j), -x[j], x.data, j);
  }
  for (int64_t j = 0; j < n; ++j) x[j] *= scale[j];
  return gain;
}

void bind_factors(nb::module_ m) { def(m, "solve", solve, "A⁻¹g of a positive definite matrix."); }
}  // namespace linsep
