// Margins z = ys of some rows at a time, and what a loss says of them: α = −Uℓ′(z) and D = Uℓ″(z).
#pragma once
#include "losses.hpp"
#include "sums.hpp"

namespace linsep {
constexpr int64_t CHUNK = 256;  // rows at a time: what is written out for them stays in the cache
constexpr int SUMS = 7, FORETOLD = 3;

// Uᵢ, one number for each row or one for all
struct Caps {
  Vector<const double> U;
  double operator[](int64_t i) const { return U[U.shape[0] == 1 ? 0 : i]; }
  bool serve(int64_t n) const { return U.shape[0] == n || U.shape[0] == 1; }
};

// Rows first..first+m in float64: margins, weights, and whether they are on the side of +1.
struct Margins {
  double z[CHUNK], U[CHUNK], up[CHUNK];
  void take(const double* s, const int8_t* y, const Caps& caps, int64_t first, int64_t m) {
    for (int64_t i = 0; i < m; ++i) {
      up[i] = y[first + i] > 0 ? 1.0 : 0.0;
      z[i] = (2.0 * up[i] - 1.0) * s[i];
    }
    if (caps.U.shape[0] == 1)
      for (int64_t i = 0; i < m; ++i) U[i] = caps.U[0];
    else
      for (int64_t i = 0; i < m; ++i) U[i] = caps.U[first + i];
  }
};

// α and D of m rows; added to `sums`
//   Σ Uℓ, Σ Uℓ as it is meant, Σ α of either class (+1 first), Σ of dual terms of either, Σ αz.
// Where the loss is meant, dual terms are those of Fenchel's equality: −ℓ*(−a) = ℓ(z) + az.
template <class L> inline void add_terms(const L& loss, const Margins& rows, int64_t m, double* a, double* D, double* sums) {
  double value[CHUNK], exact[CHUNK], dual[CHUNK];
  const double *z = rows.z, *up = rows.up;
  for (int64_t i = 0; i < m; ++i) {
    const Terms at = loss.terms(z[i]);
    value[i] = rows.U[i] * at.value;
    exact[i] = rows.U[i] * loss.exact(z[i], at);
    a[i] = rows.U[i] * at.multiplier;
    D[i] = rows.U[i] * at.curvature;
    dual[i] = std::is_same_v<L, SmoothedHinge> ? a[i] : value[i] + a[i] * z[i];
  }
  sums[0] += lane_sum<double>(m, [&](int64_t i) { return value[i]; });
  sums[1] += lane_sum<double>(m, [&](int64_t i) { return exact[i]; });
  sums[2] += lane_sum<double>(m, [&](int64_t i) { return a[i] * up[i]; });
  sums[3] += lane_sum<double>(m, [&](int64_t i) { return a[i] * (1.0 - up[i]); });
  sums[4] += lane_sum<double>(m, [&](int64_t i) { return dual[i] * up[i]; });
  sums[5] += lane_sum<double>(m, [&](int64_t i) { return dual[i] * (1.0 - up[i]); });
  sums[6] += lane_sum<double>(m, [&](int64_t i) { return a[i] * z[i]; });
}

// α − D(z′ − z), the multipliers after a step to margins z′ were the loss quadratic; added to `sums`
//   Σ of their dual terms (−∞ where one is out of range), Σ αy, Σ α.
template <class L>
inline void add_foretold(const L& loss, const Margins& rows, const double* moved, int64_t m, double* a, double* sums) {
  double dual[CHUNK], beyond[CHUNK];
  const double* up = rows.up;
  for (int64_t i = 0; i < m; ++i) {
    const Terms at = loss.terms(rows.z[i]);
    const double share = at.multiplier - at.curvature * (moved[i] - rows.z[i]);
    beyond[i] = share < 0.0 || share > loss.most() ? rows.U[i] : 0.0;
    a[i] = rows.U[i] * share;
    dual[i] = rows.U[i] * loss.dual(share);
  }
  const double out = lane_sum<double>(m, [&](int64_t i) { return beyond[i]; });
  sums[0] += out > 0.0 ? -std::numeric_limits<double>::infinity() : lane_sum<double>(m, [&](int64_t i) { return dual[i]; });
  sums[1] += lane_sum<double>(m, [&](int64_t i) { return a[i] * (2.0 * up[i] - 1.0); });
  sums[2] += lane_sum<double>(m, [&](int64_t i) { return a[i]; });
}
}  // namespace linsep
