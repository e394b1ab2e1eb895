// Products with rows x̃ = (x, 1), and Σ D x̃x̃ᵀ. Weights of one number more than there are features hold the intercept last.
#include "products.hpp"

namespace linsep {
constexpr int64_t ONE_BY_ONE = 256;  // features from which rows are long enough to be read alone

static void require_weights(int64_t d, int64_t size) {
  require(size == d || size == d + 1, "weights must have a number for each feature, and may have one for the intercept");
}

// S_ki ← ⟨w_k, xᵢ⟩ + b_k
template <class Rows> static void product(Rows rows, Matrix<const double> W, Matrix<double> S) {
  const int64_t d = rows.d, K = W.shape[0];
  require_weights(d, W.shape[1]);
  require(S.shape[0] == K && S.shape[1] == rows.n, "S must have a number for each plane and row");
  const auto offset = [&](int64_t k) { return W.shape[1] > d ? W(k, d) : 0.0; };
  int64_t i = 0;
  if constexpr (!Rows::sparse)
    for (; d < ONE_BY_ONE && i + FOUR <= rows.n; i += FOUR)
      for (int64_t k = 0; k < K; ++k) four_dots(rows, i, W.row(k), offset(k), S.row(k) + i);
  for (; i < rows.n; ++i)
    for (int64_t k = 0; k < K; ++k) S(k, i) = rows.dot(i, W.row(k)) + offset(k);
}

// V_k ← Σ R_ki x̃ᵢ
template <class Rows> static void back_product(Rows rows, Matrix<const double> R, Matrix<double> V) {
  const int64_t d = rows.d, K = R.shape[0], n = rows.n;
  require_weights(d, V.shape[1]);
  require(R.shape[1] == n && V.shape[0] == K, "R must have a number for each plane and row");
  std::fill(V.data, V.data + V.size(), 0.0);
  int64_t i = 0;
  if constexpr (!Rows::sparse)
    for (; d < ONE_BY_ONE && i + FOUR <= n; i += FOUR)
      for (int64_t k = 0; k < K; ++k) {
        const double* a = R.row(k) + i;
        const int64_t at[FOUR] = {i, i + 1, i + 2, i + 3};
        if (a[0] != 0.0 || a[1] != 0.0 || a[2] != 0.0 || a[3] != 0.0) add_four(rows, at, a, V.row(k));
      }
  for (; i < n; ++i)
    for (int64_t k = 0; k < K; ++k)
      if (R(k, i) != 0.0) rows.add(i, R(k, i), V.row(k));
  if (V.shape[1] > d)
    for (int64_t k = 0; k < K; ++k) V(k, d) = lane_sum<double>(n, [r = R.row(k)](int64_t i) { return r[i]; });
}

// v ← Σ Dᵢ⟨p, x̃ᵢ⟩x̃ᵢ in one reading of the rows; those with Dᵢ = 0 are passed over
template <class Rows> static void curved(Rows rows, Vector<const double> D, Vector<const double> p, Vector<double> v) {
  const int64_t d = rows.d, n = rows.n;
  require(p.shape[0] == d + 1 && v.shape[0] == d + 1, "p and v must have a number for each feature, and one for the intercept");
  require(D.shape[0] == n, "D must have a number for each row");
  std::fill(v.data, v.data + d + 1, 0.0);
  double total = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    if (D[i] == 0.0) continue;
    const double a = D[i] * (rows.dot(i, p.data) + p[d]);
    rows.add(i, a, v.data);
    total += a;
  }
  v[d] = total;
}

// H ← Σ Dᵢx̃ᵢx̃ᵢᵀ, all of it; `room` has 64 rows as wide as H in whole tiles, and as many as H has.
template <class Rows> static void gram(Rows rows, Vector<const double> D, Matrix<double> H, Matrix<double> room) {
  const int64_t size = H.shape[0], width = in_tiles(size);
  require_weights(rows.d, size);
  require(H.shape[1] == size && D.shape[0] == rows.n, "H must be square, and D have a number for each row");
  require(room.shape[0] == 2 * PACKED + width && room.shape[1] == width, "room must be as wide as H in whole tiles of eight");
  std::fill(room.data, room.data + room.size(), 0.0);
  double* sum = room.row(2 * PACKED);
  add_gram(rows, D.data, size, width, room.data, sum);
  unpack(sum, Rows::sparse, H);
}

// h_j ← Σ Dᵢx̃ᵢⱼ², the diagonal of the same
template <class Rows> static void squares(Rows rows, Vector<const double> D, Vector<double> h) {
  require_weights(rows.d, h.shape[0]);
  require(D.shape[0] == rows.n, "D must have a number for each row");
  std::fill(h.data, h.data + h.shape[0], 0.0);
  for (int64_t i = 0; i < rows.n; ++i) {
    if constexpr (Rows::sparse) {
      for (int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) h[rows.column[e]] += D[i] * double(rows.x[e]) * double(rows.x[e]);
    } else {
      for (int64_t j = 0; j < rows.d; ++j) h[j] += D[i] * double(rows.row(i)[j]) * double(rows.row(i)[j]);
    }
  }
  if (h.shape[0] > rows.d) h[rows.d] = lane_sum<double>(rows.n, [&](int64_t i) { return D[i]; });
}

// sᵢ ← ‖xᵢ‖²
template <class Rows> static void norms(Rows rows, Vector<double> s) {
  require(s.shape[0] == rows.n, "s must have a number for each row");
  for (int64_t i = 0; i < rows.n; ++i) s[i] = rows.square(i);
}

// sᵢ ← Σⱼ mⱼ²(xᵢⱼ − cⱼ)²; of sparse rows about zero, whatever c is.
template <class Rows>
static void distances(Rows rows, Vector<const double> c, Vector<const double> m, Vector<double> s) {
  require(s.shape[0] == rows.n && c.shape[0] == rows.d && m.shape[0] == rows.d, "s must have a number for each row, c and m for each column");
  for (int64_t i = 0; i < rows.n; ++i) {
    if constexpr (Rows::sparse) {
      s[i] = 0.0;
      for (int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
        const double t = double(rows.x[e]) * m[rows.column[e]];
        s[i] = fused(t, t, s[i]);
      }
    } else {
      const auto* x = rows.row(i);
      s[i] = lane_sum<double>(rows.d, [&](int64_t j) {
        const double t = (double(x[j]) - c[j]) * m[j];
        return t * t;
      });
    }
  }
}

void bind_designs(nb::module_ m) {
  each_layout([&m](auto rows) {
    using Rows = decltype(rows);
    def(m, "product", product<Rows>, "⟨w, x⟩ + b of each plane and row");
    def(m, "back_product", back_product<Rows>, "Σ Rx̃ for each plane");
    def(m, "curved", curved<Rows>, "Σ D⟨p, x̃⟩x̃");
    def(m, "gram", gram<Rows>, "Σ Dx̃x̃ᵀ");
    def(m, "squares", squares<Rows>, "Σ Dx̃², column by column");
    def(m, "distances", distances<Rows>, "How far each row is from a centre, columns in units of their own");
    def(m, "norms", norms<Rows>, "‖x‖² of each row");
  });
}
}  // namespace linsep
