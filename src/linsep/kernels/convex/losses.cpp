// Losses of many rows at once, from their scores s: z = ys, with multipliers α = −Uℓ′(z) and D = Uℓ″(z).
#include "losses.hpp"

#include "sums.hpp"

namespace linsep {
constexpr int64_t CHUNK = 256;  // rows at a time: what is written out for them stays in the cache
constexpr int SUMS = 7;

// Uᵢ, one number for each row or one for all
struct Caps {
  Vector<const double> U;
  double operator[](int64_t i) const { return U[U.shape[0] == 1 ? 0 : i]; }
  bool serve(int64_t n) const { return U.shape[0] == n || U.shape[0] == 1; }
};

// Rows first..first+m in float64: margins, weights, and whether they are on the side of +1.
struct Rows {
  double z[CHUNK], U[CHUNK], up[CHUNK];
  void take(const double* s, const int8_t* y, const Caps& caps, int64_t first, int64_t m) {
    for (int64_t i = 0; i < m; ++i) {
      z[i] = y[first + i] > 0 ? s[first + i] : -s[first + i];
      up[i] = y[first + i] > 0 ? 1.0 : 0.0;
      U[i] = caps[first + i];
    }
  }
};

// R₀ = αy of rows with y = +1 and R₁ of the others, zero elsewhere; D; and the sums
//   Σ Uℓ, Σ Uℓ as it is meant, Σ α of either class (+1 first), Σ of dual terms of either, Σ αz.
// Where the loss is meant, dual terms are those of Fenchel's equality: −ℓ*(−a) = ℓ(z) + az.
static void terms(Loss given, Vector<const double> s, Vector<const int8_t> y, Vector<const double> U, Matrix<double> R,
                  Vector<double> D, Vector<double> sums) {
  const int64_t n = s.shape[0];
  const Caps caps{U};
  require(y.shape[0] == n && caps.serve(n) && R.shape[0] == 2 && R.shape[1] == n && D.shape[0] == n && sums.shape[0] == SUMS,
          "scores, labels, weights and results must have a number for each row");
  const bool smoothed = given.kind == Kind::smoothed_hinge;
  std::fill(sums.data, sums.data + SUMS, 0.0);
  with_loss(given, [&](auto loss) {
    Rows rows;
    double value[CHUNK], exact[CHUNK], a[CHUNK], bend[CHUNK], dual[CHUNK];
    for (int64_t first = 0; first < n; first += CHUNK) {
      const int64_t m = std::min(CHUNK, n - first);
      rows.take(s.data, y.data, caps, first, m);
      for (int64_t i = 0; i < m; ++i) {
        const Terms at = loss.terms(rows.z[i]);
        value[i] = rows.U[i] * at.value;
        exact[i] = rows.U[i] * loss.exact(rows.z[i], at);
        a[i] = rows.U[i] * at.multiplier;
        bend[i] = rows.U[i] * at.curvature;
        dual[i] = smoothed ? a[i] : value[i] + a[i] * rows.z[i];
      }
      const double* up = rows.up;
      const double* z = rows.z;
      std::copy(bend, bend + m, D.data + first);
      for (int64_t i = 0; i < m; ++i) R(0, first + i) = a[i] * up[i];
      for (int64_t i = 0; i < m; ++i) R(1, first + i) = a[i] * (up[i] - 1.0);
      sums[0] += lane_sum<double>(m, [&](int64_t i) { return value[i]; });
      sums[1] += lane_sum<double>(m, [&](int64_t i) { return exact[i]; });
      sums[2] += lane_sum<double>(m, [&](int64_t i) { return a[i] * up[i]; });
      sums[3] += lane_sum<double>(m, [&](int64_t i) { return a[i] * (1.0 - up[i]); });
      sums[4] += lane_sum<double>(m, [&](int64_t i) { return dual[i] * up[i]; });
      sums[5] += lane_sum<double>(m, [&](int64_t i) { return dual[i] * (1.0 - up[i]); });
      sums[6] += lane_sum<double>(m, [&](int64_t i) { return a[i] * z[i]; });
    }
  });
}

// α − D(z′ − z), the multipliers after a step from s to `moved` were the loss quadratic, into `alpha`; and the sums
//   Σ of their dual terms (−∞ where one is out of range), Σ αy, Σ α.
static void foretold(Loss given, Vector<const double> s, Vector<const double> moved, Vector<const int8_t> y,
                     Vector<const double> U, Vector<double> alpha, Vector<double> sums) {
  const int64_t n = s.shape[0];
  const Caps caps{U};
  require(moved.shape[0] == n && y.shape[0] == n && caps.serve(n) && alpha.shape[0] == n && sums.shape[0] == 3,
          "scores, labels, weights and results must have a number for each row");
  std::fill(sums.data, sums.data + 3, 0.0);
  with_loss(given, [&](auto loss) {
    Rows rows;
    double dual[CHUNK], beyond[CHUNK];
    for (int64_t first = 0; first < n; first += CHUNK) {
      const int64_t m = std::min(CHUNK, n - first);
      rows.take(s.data, y.data, caps, first, m);
      double* a = alpha.data + first;
      for (int64_t i = 0; i < m; ++i) {
        const Terms at = loss.terms(rows.z[i]);
        const double to = rows.up[i] > 0.0 ? moved[first + i] : -moved[first + i];
        const double share = at.multiplier - at.curvature * (to - rows.z[i]);
        beyond[i] = share < 0.0 || share > loss.most() ? rows.U[i] : 0.0;
        a[i] = rows.U[i] * share;
        dual[i] = rows.U[i] * loss.dual(share);
      }
      const double* up = rows.up;
      const double out = lane_sum<double>(m, [&](int64_t i) { return beyond[i]; });
      sums[0] += out > 0.0 ? -std::numeric_limits<double>::infinity() : lane_sum<double>(m, [&](int64_t i) { return dual[i]; });
      sums[1] += lane_sum<double>(m, [&](int64_t i) { return a[i] * (2.0 * up[i] - 1.0); });
      sums[2] += lane_sum<double>(m, [&](int64_t i) { return a[i]; });
    }
  });
}

// First and second derivative of Σ Uℓ in t where scores are s + t(moved − s), for several t: a row of `slopes` each.
static void along(Loss given, Vector<const double> s, Vector<const double> moved, Vector<const int8_t> y,
                  Vector<const double> U, Vector<const double> t, Matrix<double> slopes) {
  const int64_t n = s.shape[0];
  const Caps caps{U};
  require(moved.shape[0] == n && y.shape[0] == n && caps.serve(n), "scores, labels and weights must have a number for each row");
  require(slopes.shape[0] == t.shape[0] && slopes.shape[1] == 2, "slopes must have two numbers for each t");
  std::fill(slopes.data, slopes.data + slopes.size(), 0.0);
  with_loss(given, [&](auto loss) {
    Rows rows;
    double change[CHUNK], one[CHUNK], two[CHUNK];
    for (int64_t first = 0; first < n; first += CHUNK) {
      const int64_t m = std::min(CHUNK, n - first);
      rows.take(s.data, y.data, caps, first, m);
      for (int64_t i = 0; i < m; ++i) change[i] = (rows.up[i] > 0.0 ? moved[first + i] : -moved[first + i]) - rows.z[i];
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
