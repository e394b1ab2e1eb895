// Products with rows x̃ = (x, 1), and Σ D x̃x̃ᵀ. Weights of one number more than there are features hold the intercept last.
#if defined(__AVX__) && defined(__FMA__)
#include <immintrin.h>
#endif

#include <algorithm>

#include "rows.hpp"

namespace linsep {
constexpr int64_t FOUR = 4;        // dense rows that are read side by side
constexpr int64_t ONE_BY_ONE = 256;  // features from which rows are long enough to be read alone

static void require_weights(int64_t d, int64_t size) {
  require(size == d || size == d + 1, "weights must have a number for each feature, and may have one for the intercept");
}

// s_i ← ⟨w, xᵢ⟩ + b of four dense rows side by side, each in four lanes
template <class T> inline void four_dots(const Dense<T>& rows, int64_t i, const double* w, double b, double* s) {
  double lanes[FOUR][FOUR] = {};
  const T* x[FOUR] = {rows.row(i), rows.row(i + 1), rows.row(i + 2), rows.row(i + 3)};
  int64_t j = 0;
  for (; j + FOUR <= rows.d; j += FOUR)
    for (int r = 0; r < FOUR; ++r)
      for (int l = 0; l < FOUR; ++l) lanes[r][l] = fused(double(x[r][j + l]), w[j + l], lanes[r][l]);
  for (int l = 0; j + l < rows.d; ++l)
    for (int r = 0; r < FOUR; ++r) lanes[r][l] = fused(double(x[r][j + l]), w[j + l], lanes[r][l]);
  for (int r = 0; r < FOUR; ++r) s[r] = ((lanes[r][0] + lanes[r][2]) + (lanes[r][1] + lanes[r][3])) + b;
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

// v ← v + Σ aᵣxᵣ of four dense rows
template <class T> inline void add_four(const Dense<T>& rows, int64_t i, const double* a, double* v) {
  const T *p = rows.row(i), *q = rows.row(i + 1), *r = rows.row(i + 2), *s = rows.row(i + 3);
  const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
  for (int64_t j = 0; j < rows.d; ++j)
    v[j] = fused(a3, double(s[j]), fused(a2, double(r[j]), fused(a1, double(q[j]), fused(a0, double(p[j]), v[j]))));
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
        if (a[0] != 0.0 || a[1] != 0.0 || a[2] != 0.0 || a[3] != 0.0) add_four(rows, i, a, V.row(k));
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

constexpr int64_t PACKED = 32, HIGH = 4, WIDE = 8;  // rows of a group; rows and columns of a tile

// Four numbers in a register. Compilers do not keep a tile of them there of their own accord: four to ten times slower.
#if defined(__AVX__) && defined(__FMA__)
using Four = __m256d;
inline Four load(const double* a) { return _mm256_loadu_pd(a); }
inline Four same(double a) { return _mm256_set1_pd(a); }
inline void store(double* a, Four x) { _mm256_storeu_pd(a, x); }
inline Four fused(Four a, Four b, Four c) { return _mm256_fmadd_pd(a, b, c); }
#else
struct Four {
  double x[4];
};
inline Four load(const double* a) { return {{a[0], a[1], a[2], a[3]}}; }
inline Four same(double a) { return {{a, a, a, a}}; }
inline void store(double* a, Four v) { std::copy(v.x, v.x + 4, a); }
inline Four fused(Four a, Four b, Four c) {
  for (int l = 0; l < 4; ++l) c.x[l] = fused(a.x[l], b.x[l], c.x[l]);
  return c;
}
#endif

// H ← H + AᵀB over a group of rows, in tiles that stay in registers; its lower triangle, and what else tiles hold.
// A lies in strips of HIGH columns and B in strips of WIDE ones, each row of a strip after the other.
static void add_tiles(const double* A, const double* B, int64_t rows, int64_t width, double* H) {
  for (int64_t i = 0; i < width; i += HIGH)
    for (int64_t j = 0; j < i + HIGH; j += WIDE) {
      double* to = H + i * width + j;
      const double *a = A + i * PACKED, *b = B + j * PACKED;
      Four s[HIGH], t[HIGH];
      for (int p = 0; p < HIGH; ++p) s[p] = load(to + p * width), t[p] = load(to + p * width + 4);
      for (int64_t r = 0; r < rows; ++r, a += HIGH, b += WIDE) {
        const Four x = load(b), y = load(b + 4);
        for (int p = 0; p < HIGH; ++p) {
          const Four z = same(a[p]);
          s[p] = fused(z, x, s[p]), t[p] = fused(z, y, t[p]);
        }
      }
      for (int p = 0; p < HIGH; ++p) store(to + p * width, s[p]), store(to + p * width + 4, t[p]);
    }
}

// Σ Dᵢx̃ᵢx̃ᵢᵀ of dense rows: those with Dᵢ ≠ 0 are written out in float64, some at a time.
template <class T>
static void add_gram(const Dense<T>& rows, const double* D, int64_t size, int64_t width, double* room, double* H) {
  double *A = room, *B = room + PACKED * width;
  int64_t held = 0;
  for (int64_t i = 0; i < rows.n; ++i) {
    if (D[i] != 0.0) {
      const T* x = rows.row(i);
      for (int64_t j = 0; j < size; j += WIDE) {
        double strip[WIDE] = {};
        const int64_t last = std::min(WIDE, rows.d - j);
        for (int64_t l = 0; l < last; ++l) strip[l] = double(x[j + l]);
        if (size > rows.d && j + WIDE >= size) strip[rows.d - j] = 1.0;
        double *b = B + j * PACKED + held * WIDE, *a = A + j * PACKED + held * HIGH;
        for (int l = 0; l < WIDE; ++l) b[l] = strip[l];
        for (int l = 0; l < HIGH; ++l) a[l] = D[i] * strip[l];
        for (int l = 0; l < HIGH; ++l) a[PACKED * HIGH + l] = D[i] * strip[HIGH + l];
      }
      ++held;
    }
    if (held == PACKED || (i + 1 == rows.n && held > 0)) {
      add_tiles(A, B, held, width, H);
      held = 0;
    }
  }
}

// The same of sparse rows: products of their entries.
template <class T> static void add_gram(const CSR<T>& rows, const double* D, int64_t size, int64_t width, double*, double* H) {
  const int64_t d = rows.d;
  for (int64_t i = 0; i < rows.n; ++i) {
    if (D[i] == 0.0) continue;
    const int64_t first = rows.start[i], last = rows.start[i + 1];
    for (int64_t e = first; e < last; ++e) {
      const int64_t j = rows.column[e];
      const double x = D[i] * double(rows.x[e]);
      for (int64_t f = first; f <= e; ++f) {
        const int64_t k = rows.column[f], high = std::max(j, k), low = std::min(j, k);
        H[high * width + low] = fused(x, double(rows.x[f]), H[high * width + low]);
      }
      if (size > d) H[d * width + j] += x;
    }
    if (size > d) H[d * width + d] += D[i];
  }
}

// H ← Σ Dᵢx̃ᵢx̃ᵢᵀ, all of it; `room` has 64 rows as wide as H in whole tiles, and as many as H has.
template <class Rows> static void gram(Rows rows, Vector<const double> D, Matrix<double> H, Matrix<double> room) {
  const int64_t size = H.shape[0], width = (size + WIDE - 1) / WIDE * WIDE;
  require_weights(rows.d, size);
  require(H.shape[1] == size && D.shape[0] == rows.n, "H must be square, and D have a number for each row");
  require(room.shape[0] == 2 * PACKED + width && room.shape[1] == width, "room must be as wide as H in whole tiles of eight");
  std::fill(room.data, room.data + room.size(), 0.0);
  double* sum = room.row(2 * PACKED);
  add_gram(rows, D.data, size, width, room.data, sum);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j <= i; ++j) H(i, j) = H(j, i) = sum[i * width + j];
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

void bind_designs(nb::module_ m) {
  each_layout([&m](auto rows) {
    using Rows = decltype(rows);
    def(m, "product", product<Rows>, "⟨w, x⟩ + b of each plane and row");
    def(m, "back_product", back_product<Rows>, "Σ Rx̃ for each plane");
    def(m, "curved", curved<Rows>, "Σ D⟨p, x̃⟩x̃");
    def(m, "gram", gram<Rows>, "Σ Dx̃x̃ᵀ");
    def(m, "squares", squares<Rows>, "Σ Dx̃², column by column");
    def(m, "norms", norms<Rows>, "‖x‖² of each row");
  });
}
}  // namespace linsep
