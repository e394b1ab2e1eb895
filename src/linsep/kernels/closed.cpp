// Sums over dense rows that closed forms are made of: products of columns, class means.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "rows.hpp"
#include "vectors.hpp"

namespace linsep {
constexpr int64_t HIGH = 4, WIDE = 3;  // columns, and vectors of columns, whose products stay in registers
template <class T> constexpr int64_t PANEL = WIDE * Vec<T>::lanes;

static void require_weights(Vector<const double> weights, int64_t n) {
  require(weights.shape[0] == 0 || weights.shape[0] == n, "weights must be none, or one for each row");
}
static void require_codes(Vector<const int32_t> codes, int64_t n, int64_t classes) {
  require(codes.shape[0] == n, "codes must have a number for each row");
  bool within = true;
  for (int64_t i = 0; i < n; ++i) within &= 0 <= codes[i] && codes[i] < classes;
  require(within, "codes must be numbers of classes");
}

// G ← G + ZᵀZ of the first rows, where a column is not beyond its own panel. Z has PANEL columns of all rows, then the next ones.
template <class T> static void multiply(const Array<T, 3>& Z, int64_t rows, const Matrix<T>& G) {
  using V = Vec<T>;
  const int64_t panels = Z.shape[0], room = Z.shape[1], width = G.shape[1];
  for (int64_t i = 0; i < panels * PANEL<T>; i += HIGH)
    for (int64_t q = 0; q <= i / PANEL<T>; ++q) {
      const T* a = Z.data + i / PANEL<T> * room * PANEL<T> + i % PANEL<T>;
      const T* b = Z.data + q * room * PANEL<T>;
      V s[HIGH][WIDE] = {};
      for (int64_t k = 0; k < rows; ++k, a += PANEL<T>, b += PANEL<T>) {
        const V x = V::load(b), y = V::load(b + V::lanes), z = V::load(b + 2 * V::lanes);
        for (int p = 0; p < HIGH; ++p) {
          const V c = V::same(a[p]);
          s[p][0] = fused(c, x, s[p][0]), s[p][1] = fused(c, y, s[p][1]), s[p][2] = fused(c, z, s[p][2]);
        }
      }
      for (int p = 0; p < HIGH; ++p) {
        T* g = G.data + (i + p) * width + q * PANEL<T>;
        for (int v = 0; v < WIDE; ++v) (V::load(g + v * V::lanes) + s[p][v]).store(g + v * V::lanes);
      }
    }
}

// G ← G + Σ zzᵀ for z = √w ((x − shift)·scale, y − level, 1), the latter two only where there is a level for each of the columns of Y. Z is room for
// some rows, written down in panels; G has as many columns as they have.
template <class X, class T>
static void products(Matrix<const X> rows, Matrix<const double> Y, Vector<const double> shift, Vector<const double> scale,
                     Vector<const double> level, Vector<const double> weights, Array<T, 3> Z, Matrix<T> G) {
  const int64_t n = rows.shape[0], d = rows.shape[1], t = level.shape[0], room = Z.shape[1], size = d + (t > 0 ? t + 1 : 0);
  require(shift.shape[0] == d && scale.shape[0] == d, "shift and scale must have a number for each column");
  require(t == 0 || (Y.shape[0] == n && Y.shape[1] == t), "Y must have a number for each row and level");
  require(Z.shape[2] == PANEL<T> && room > 0 && size <= Z.shape[0] * PANEL<T>, "Z must have panels for all columns");
  require(G.shape[0] == Z.shape[0] * PANEL<T> && G.shape[1] == G.shape[0], "G must be as wide as the panels of Z");
  require_weights(weights, n);
  std::fill(Z.data, Z.data + Z.size(), T(0));
  for (int64_t first = 0; first < n; first += room) {
    const int64_t held = std::min(room, n - first);
    for (int64_t k = 0; k < held; ++k) {
      const X* x = rows.row(first + k);
      const double root = weights.shape[0] > 0 ? std::sqrt(weights[first + k]) : 1.0;
      for (int64_t j = 0; j < d; j += PANEL<T>) {
        T* z = Z.data + (j / PANEL<T> * room + k) * PANEL<T>;
        const double *c = shift.data + j, *u = scale.data + j;
        if (d - j >= PANEL<T>)
          for (int64_t l = 0; l < PANEL<T>; ++l) z[l] = T((double(x[j + l]) - c[l]) * (u[l] * root));
        else
          for (int64_t l = 0; l < d - j; ++l) z[l] = T((double(x[j + l]) - c[l]) * (u[l] * root));
      }
      for (int64_t j = d; j < size; ++j)
        Z(j / PANEL<T>, k, j % PANEL<T>) = T(j + 1 < size ? root * (Y(first + k, j - d) - level[j - d]) : root);
    }
    multiply(Z, held, G);
  }
}

// The lower triangle of Σ w zzᵀ for z = (x, y, 1) of sparse rows first..last, whose entries are in order of their columns.
template <class T>
static void sparse_products(CSR<T> rows, int64_t first, int64_t last, Vector<const double> weights, Matrix<const double> Y, Matrix<double> G) {
  const int64_t d = rows.d, t = Y.shape[1];
  require(0 <= first && first <= last && last <= rows.n && Y.shape[0] == rows.n, "there are no such rows");
  require(G.shape[0] == d + t + 1 && G.shape[1] == d + t + 1, "G must be as wide as a row, its targets and one");
  require_weights(weights, rows.n);
  for (int64_t i = first; i < last; ++i) {
    const double w = weights.shape[0] > 0 ? weights[i] : 1.0;
    const double* y = Y.row(i);
    for (int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
      const int64_t j = rows.column[e];
      const double a = w * double(rows.x[e]);
      for (int64_t f = rows.start[i]; f <= e; ++f) G(j, rows.column[f]) += a * double(rows.x[f]);
      for (int64_t k = 0; k < t; ++k) G(d + k, j) += a * y[k];
      G(d + t, j) += a;
    }
    for (int64_t k = 0; k < t; ++k) {
      for (int64_t m = 0; m <= k; ++m) G(d + k, d + m) += w * y[k] * y[m];
      G(d + t, d + k) += w * y[k];
    }
    G(d + t, d + t) += w;
  }
}

// In double precision, for x = x − shift and y = y − level: own ← own + Σ w (x², y²), first ← first + Σ w (x, y), cross ← cross + Σ w yxᵀ,
// total ← total + Σ w.
template <class X>
static void border(Matrix<const X> rows, Matrix<const double> Y, Vector<const double> shift, Vector<const double> level,
                   Vector<const double> weights, Vector<double> own, Vector<double> first, Matrix<double> cross, Vector<double> total) {
  const int64_t n = rows.shape[0], d = rows.shape[1], t = level.shape[0];
  require(shift.shape[0] == d && Y.shape[0] == n && Y.shape[1] == t, "shift, level and Y must go with the rows");
  require(own.shape[0] == d + t && first.shape[0] == d + t && total.shape[0] == 1, "own and first must have a number for each column");
  require(cross.shape[0] == t && cross.shape[1] == d, "cross must have a number for each target and column");
  require_weights(weights, n);
  for (int64_t i = 0; i < n; ++i) {
    const double w = weights.shape[0] > 0 ? weights[i] : 1.0;
    const X* x = rows.row(i);
    total[0] += w;
    for (int64_t j = 0; j < d; ++j) {
      const double z = double(x[j]) - shift[j];
      own[j] = fused(w * z, z, own[j]);
      first[j] = fused(w, z, first[j]);
    }
    for (int64_t c = 0; c < t; ++c) {
      const double y = Y(i, c) - level[c], r = w * y;
      own[d + c] += r * y;
      first[d + c] += r;
      for (int64_t j = 0; j < d; ++j) cross(c, j) = fused(r, double(x[j]) - shift[j], cross(c, j));
    }
  }
}

// The largest |x| of each column, and Σ w x and Σ w of each class; rows without weight apart.
template <class X>
static void sizes_and_sums(Matrix<const X> rows, Vector<const int32_t> codes, Vector<const double> weights, Vector<double> top,
                           Matrix<double> sums, Vector<double> counts) {
  const int64_t n = rows.shape[0], d = rows.shape[1];
  require(top.shape[0] == d && sums.shape[1] == d && counts.shape[0] == sums.shape[0], "top, sums, counts must go with the rows");
  require_codes(codes, n, sums.shape[0]);
  require_weights(weights, n);
  for (int64_t i = 0; i < n; ++i) {
    const double w = weights.shape[0] > 0 ? weights[i] : 1.0;
    if (!(w > 0.0)) continue;
    const X* x = rows.row(i);
    double* sum = sums.row(codes[i]);
    counts[codes[i]] += w;
    for (int64_t j = 0; j < d; ++j) {
      const double size = std::abs(double(x[j]));
      top[j] = size > top[j] ? size : top[j];
      sum[j] += w * double(x[j]);
    }
  }
}

// zᵢ ← √wᵢ ((x·scale − mean) − lost), with the mean of its class and what that mean has lost. Without weights √w is 1. Where `left` has classes, it gains
// Σ w (x·scale − mean) of each, and nothing is taken away as lost.
template <class X>
static void centred_rows(Matrix<const X> rows, Vector<const int32_t> codes, Vector<const double> weights, Vector<const double> scale,
                         Matrix<const double> means, Matrix<const double> lost, Matrix<double> left, Matrix<double> Z) {
  const int64_t n = rows.shape[0], d = rows.shape[1], K = means.shape[0];
  require(scale.shape[0] == d && means.shape[1] == d, "scale and means must have a number for each column");
  require(lost.shape[0] == 0 || (lost.shape[0] == K && lost.shape[1] == d), "lost must be none, or as means");
  require(left.shape[0] == 0 || (left.shape[0] == K && left.shape[1] == d), "left must be none, or as means");
  require(Z.shape[0] == n && Z.shape[1] == d, "Z must have room for the rows");
  require_codes(codes, n, K);
  require_weights(weights, n);
  for (int64_t i = 0; i < n; ++i) {
    const X* x = rows.row(i);
    const double *mean = means.row(codes[i]), w = weights.shape[0] > 0 ? weights[i] : 1.0, root = std::sqrt(w);
    double* z = Z.row(i);
    for (int64_t j = 0; j < d; ++j) z[j] = double(x[j]) * scale[j] - mean[j];
    if (lost.shape[0] > 0)
      for (int64_t j = 0; j < d; ++j) z[j] -= lost(codes[i], j);
    if (left.shape[0] > 0)
      for (int64_t j = 0; j < d; ++j) left(codes[i], j) += w * z[j];
    if (weights.shape[0] > 0)
      for (int64_t j = 0; j < d; ++j) z[j] *= root;
  }
}

template <class X> static void bind(nb::module_& m) {
  def(m, "products", products<X, double>, "Σ zzᵀ in double precision");
  def(m, "products", products<X, float>, "Σ zzᵀ in single precision");
  def(m, "sparse_products", sparse_products<X>, "The lower triangle of Σ w zzᵀ for sparse rows");
  def(m, "border", border<X>, "Sums that need no product of two columns");
  def(m, "sizes_and_sums", sizes_and_sums<X>, "Largest entries of columns, sums by class");
  def(m, "centred_rows", centred_rows<X>, "Rows about the means of their classes");
}

void bind_closed(nb::module_ m) {
  bind<double>(m);
  bind<float>(m);
}
}  // namespace linsep
