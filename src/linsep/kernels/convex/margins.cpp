// One reading of rows for all that Newton's method asks of a point of two classes: losses, their slopes and curvatures.
#include "margins.hpp"
#include "products.hpp"

namespace linsep {
// s_k ← ⟨w_k, xᵢ⟩ + b_k of a chunk of rows, for one point or two
template <class Rows> static void score(const Rows& rows, const Matrix<const double>& points, double (*s)[CHUNK]) {
  const int64_t d = rows.d;
  int64_t i = 0;
  if constexpr (Rows::sparse) {
    const double *u = points.row(0), *v = points.row(points.shape[0] - 1);
    for (; points.shape[0] == 2 && i < rows.n; ++i) {
      double at = 0.0, before = 0.0;
      for (int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
        at = fused(double(rows.x[e]), u[rows.column[e]], at);
        before = fused(double(rows.x[e]), v[rows.column[e]], before);
      }
      s[0][i] = at + u[d], s[1][i] = before + v[d];
    }
  } else {
    for (; i + FOUR <= rows.n; i += FOUR)
      for (int64_t k = 0; k < points.shape[0]; ++k) four_dots(rows, i, points.row(k), points(k, d), s[k] + i);
  }
  for (; i < rows.n; ++i)
    for (int64_t k = 0; k < points.shape[0]; ++k) s[k][i] = rows.dot(i, points.row(k)) + points(k, d);
}

// V ← V + Σ αyx of either class, +1 first: four rows of a class at a time.
template <class Rows> static void add_pull(const Rows& rows, const double* a, const double* up, int64_t size, double* V) {
  int64_t at[2][FOUR], held[2] = {0, 0};
  double share[2][FOUR];
  for (int64_t i = 0; i < rows.n; ++i) {
    if (a[i] == 0.0) continue;
    const int k = up[i] > 0.0 ? 0 : 1;
    const double signed_share = k == 0 ? a[i] : -a[i];
    if constexpr (Rows::sparse) {
      rows.add(i, signed_share, V + k * size);
    } else {
      at[k][held[k]] = i, share[k][held[k]] = signed_share;
      if (++held[k] < FOUR) continue;
      add_four(rows, at[k], share[k], V + k * size);
      held[k] = 0;
    }
  }
  for (int k = 0; k < 2; ++k)
    for (int64_t h = 0; h < held[k]; ++h) rows.add(at[k][h], share[k][h], V + k * size);
}

// What offsets take from dual terms, of which they are a part: Σ αyo of either class from `of_class`, of both from `whole`.
static void take_offsets(const double* o, const double* up, const double* a, int64_t m, double* of_class, double* whole) {
  const double above = lane_sum<double>(m, [&](int64_t i) { return up[i] * a[i] * o[i]; });
  const double below = lane_sum<double>(m, [&](int64_t i) { return (up[i] - 1.0) * a[i] * o[i]; });
  of_class[0] -= above, of_class[1] -= below, *whole -= above + below;
}

// out ← the sums of `add_terms` at the first point; of `add_foretold` for the step to it from the second, if there is
// one; Σ αyx̃ of either class; and where `strips` has rows, Σ Dx̃x̃ᵀ as `add_gram` leaves it. Scores are ⟨w, x⟩ + b + oᵢ;
// `offset` may be empty.
template <class Rows>
static void read(Rows rows, Vector<const int8_t> y, Vector<const double> U, Vector<const double> offset,
                 Matrix<const double> points, Loss given, Vector<double> out, Matrix<double> strips) {
  const int64_t n = rows.n, size = rows.d + 1, width = in_tiles(size);
  const bool curved = strips.shape[0] > 0, told = points.shape[0] == 2;
  require(points.shape[1] == size && (told || points.shape[0] == 1), "points must be one or two, of weights and an intercept");
  require(y.shape[0] == n && Caps{U}.serve(n) && (offset.shape[0] == 0 || offset.shape[0] == n),
          "labels, weights and offsets must have a number for each row");
  require(!curved || (strips.shape[0] == 2 * PACKED && strips.shape[1] == width), "strips must be as wide as H in whole tiles of eight");
  require(out.shape[0] == SUMS + FORETOLD + 2 * size + (curved ? width * width : 0), "out must have room for sums, slopes and a Hessian");
  std::fill(out.data, out.data + out.shape[0], 0.0);
  double *sums = out.data, *V = sums + SUMS + FORETOLD, *H = V + 2 * size;
  double s[2][CHUNK], a[CHUNK], D[CHUNK], foreseen[CHUNK];
  with_loss(given, [&](auto loss) {
    Margins at, before;
    for (int64_t first = 0; first < n; first += CHUNK) {
      const Rows part = rows.part(first, std::min(CHUNK, n - first));
      score(part, points, s);
      for (int64_t k = 0; offset.shape[0] > 0 && k < points.shape[0]; ++k)
        for (int64_t i = 0; i < part.n; ++i) s[k][i] += offset[first + i];
      at.take(s[0], y.data, Caps{U}, first, part.n);
      add_terms(loss, at, part.n, a, D, sums);
      if (offset.shape[0] > 0) take_offsets(offset.data + first, at.up, a, part.n, sums + 4, sums + 6);
      if (told) {
        before.take(s[1], y.data, Caps{U}, first, part.n);
        add_foretold(loss, before, at.z, part.n, foreseen, sums + SUMS);
        if (offset.shape[0] > 0) {
          double both[2] = {0.0, 0.0};
          take_offsets(offset.data + first, at.up, foreseen, part.n, both, sums + SUMS);
        }
      }
      add_pull(part, a, at.up, size, V);
      if (curved) add_gram(part, D, size, width, strips.data, H);
    }
  });
  V[rows.d] = sums[2], V[size + rows.d] = -sums[3];
}

// H ← both triangles of what `add_gram` left of dense rows, or of sparse ones
static void whole(Vector<const double> sum, bool sparse, Matrix<double> H) {
  const int64_t size = H.shape[0], width = in_tiles(size);
  require(H.shape[1] == size && sum.shape[0] == width * width, "the sum must be as wide as H in whole tiles of eight");
  unpack(sum.data, sparse, H);
}

void bind_margins(nb::module_ m) {
  each_layout([&m](auto rows) { def(m, "read", read<decltype(rows)>, "Losses of rows at a point, their slopes and curvatures."); });
  def(m, "whole", whole, "A Hessian of its lower half.");
}
}  // namespace linsep
