// Losses of many rows at once, from their scores s: z = ys.
#include "margins.hpp"

namespace linsep {
static void require_rows(int64_t n, const Vector<const int8_t>& y, const Vector<const double>& U, bool results) {
  require(y.shape[0] == n && Caps{U}.serve(n) && results, "scores, labels, weights and results must have a number for each row");
}

// R₀ = αy of rows with y = +1 and R₁ of the others, zero elsewhere; D; and the sums of `add_terms`
static void terms(Loss given, Vector<const double> s, Vector<const int8_t> y, Vector<const double> U, Matrix<double> R,
                  Vector<double> D, Vector<double> sums) {
  const int64_t n = s.shape[0];
  require_rows(n, y, U, R.shape[0] == 2 && R.shape[1] == n && D.shape[0] == n && sums.shape[0] == SUMS);
  std::fill(sums.data, sums.data + SUMS, 0.0);
  with_loss(given, [&](auto loss) {
    Margins rows;
    double a[CHUNK];
    for (int64_t first = 0; first < n; first += CHUNK) {
      const int64_t m = std::min(CHUNK, n - first);
      rows.take(s.data + first, y.data, Caps{U}, first, m);
      add_terms(loss, rows, m, a, D.data + first, sums.data);
      for (int64_t i = 0; i < m; ++i) R(0, first + i) = a[i] * rows.up[i];
      for (int64_t i = 0; i < m; ++i) R(1, first + i) = a[i] * (rows.up[i] - 1.0);
    }
  });
}

// The multipliers that a step from s to `moved` foretells, and the sums of `add_foretold`
static void foretold(Loss given, Vector<const double> s, Vector<const double> moved, Vector<const int8_t> y,
                     Vector<const double> U, Vector<double> alpha, Vector<double> sums) {
  const int64_t n = s.shape[0];
  require_rows(n, y, U, moved.shape[0] == n && alpha.shape[0] == n && sums.shape[0] == FORETOLD);
  std::fill(sums.data, sums.data + FORETOLD, 0.0);
  with_loss(given, [&](auto loss) {
    Margins rows, to;
    for (int64_t first = 0; first < n; first += CHUNK) {
      const int64_t m = std::min(CHUNK, n - first);
      rows.take(s.data + first, y.data, Caps{U}, first, m);
      to.take(moved.data + first, y.data, Caps{U}, first, m);
      add_foretold(loss, rows, to.z, m, alpha.data + first, sums.data);
    }
  });
}

// First and second derivative of Σ Uℓ in t where scores are s + t(moved − s), for several t: a row of `slopes` each.
static void along(Loss given, Vector<const double> s, Vector<const double> moved, Vector<const int8_t> y,
                  Vector<const double> U, Vector<const double> t, Matrix<double> slopes) {
  const int64_t n = s.shape[0];
  require_rows(n, y, U, moved.shape[0] == n);
  require(slopes.shape[0] == t.shape[0] && slopes.shape[1] == 2, "slopes must have two numbers for each t");
  std::fill(slopes.data, slopes.data + slopes.size(), 0.0);
  with_loss(given, [&](auto loss) {
    Margins rows, to;
    double change[CHUNK], one[CHUNK], two[CHUNK];
    for (int64_t first = 0; first < n; first += CHUNK) {
      const int64_t m = std::min(CHUNK, n - first);
      rows.take(s.data + first, y.data, Caps{U}, first, m);
      to.take(moved.data + first, y.data, Caps{U}, first, m);
      for (int64_t i = 0; i < m; ++i) change[i] = to.z[i] - rows.z[i];
      for (int64_t k = 0; k < t.shape[0]; ++k) {
        for (int64_t i = 0; i < m; ++i) {
          const Terms at = loss.terms(rows.z[i] + t[k] * change[i]);
          one[i] = -rows.U[i] * at.multiplier * change[i];
          two[i] = rows.U[i] * at.curvature * change[i] * change[i];
        }
        slopes(k, 0) += lane_sum<double>(m, [&](int64_t i) { return one[i]; });
        slopes(k, 1) += lane_sum<double>(m, [&](int64_t i) { return two[i]; });
      }
    }
  });
}

void bind_losses(nb::module_ m) {
  def(m, "terms", terms, "Multipliers and curvatures of rows, and their sums, from their scores.");
  def(m, "foretold", foretold, "The multipliers that a Newton step foretells, and their sums.");
  def(m, "along", along, "Derivatives of the losses along a line.");
}
}  // namespace linsep
