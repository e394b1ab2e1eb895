// Gaps of folds of logistic regression after a step of Newton's method from one point, side by side.
#include "losses.hpp"

#include "sums.hpp"

namespace linsep {
// Scores S of rows: at the point in the first row, and where the step of each fold led in the others. With α and α′ = σ(−z) at
// both, the multipliers a = α − α(1 − α)(z′ − z) that the step foretold give, for every fold but that which leaves these rows out,
//
//   Σ (a − α′)²/(α′(1 − α′)), ∞ where some a is out of range;   Σ ay;   Σ a
static void fold_gaps(Matrix<const double> S, Vector<const int8_t> y, int64_t home, Matrix<double> sums) {
  constexpr int64_t CHUNK = 256;
  const int64_t n = S.shape[1], folds = S.shape[0] - 1;
  require(y.shape[0] == n && sums.shape[0] == folds && sums.shape[1] == 3, "there must be a label for each row, and sums for each fold");
  double alpha[CHUNK], sign[CHUNK], gap[CHUNK], a[CHUNK], beyond[CHUNK];
  const Logistic loss{1.0};
  for (int64_t first = 0; first < n; first += CHUNK) {
    const int64_t m = std::min(CHUNK, n - first);
    const double* s = S.row(0) + first;
    for (int64_t i = 0; i < m; ++i) sign[i] = y[first + i] > 0 ? 1.0 : -1.0;
    for (int64_t i = 0; i < m; ++i) alpha[i] = loss.terms(sign[i] * s[i]).multiplier;
    for (int64_t f = 0; f < folds; ++f) {
      if (f == home) continue;
      const double* to = S.row(1 + f) + first;
      for (int64_t i = 0; i < m; ++i) {
        const Terms at = loss.terms(sign[i] * to[i]);
        a[i] = alpha[i] - alpha[i] * (1.0 - alpha[i]) * (sign[i] * (to[i] - s[i]));
        gap[i] = (a[i] - at.multiplier) * (a[i] - at.multiplier) / at.curvature;
        beyond[i] = a[i] < 0.0 || a[i] > 1.0 ? 1.0 : 0.0;
      }
      const double out = lane_sum<double>(m, [&](int64_t i) { return beyond[i]; });
      sums(f, 0) += out > 0.0 ? std::numeric_limits<double>::infinity() : lane_sum<double>(m, [&](int64_t i) { return gap[i]; });
      sums(f, 1) += lane_sum<double>(m, [&](int64_t i) { return a[i] * sign[i]; });
      sums(f, 2) += lane_sum<double>(m, [&](int64_t i) { return a[i]; });
    }
  }
}

void bind_folds(nb::module_ m) { def(m, "fold_gaps", fold_gaps, "Gaps of folds after a Newton step"); }
}  // namespace linsep
