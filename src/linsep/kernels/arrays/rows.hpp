// Rows of a data set as kernels see them: Dense and CSR with the same members. The only two layouts there are.
//
// In Python they are the named tuples of linsep.rows.rows, whose arrays are taken without a copy. Sums are
// carried in the type of the weights. Indices of CSR rows are checked where these are made (check_indices),
// against the number of features that they carry; kernels check that weights have as many.
#pragma once
#include <algorithm>

#include "arrays.hpp"
#include "vectors.hpp"

namespace linsep {
// Rows of a C-contiguous array.
template <class T> struct Dense {
  using Real = T;
  static constexpr bool sparse = false;
  const T* x = nullptr;
  int64_t n = 0, d = 0;

  const T* row(int64_t i) const { return x + i * d; }
  // Rows first..first+m
  Dense part(int64_t first, int64_t m) const { return {x + first * d, m, d}; }
  int64_t count(int64_t) const { return d; }
  // ⟨w, xᵢ⟩
  template <class W> W dot(int64_t i, const W* w) const { return inner(row(i), w, d); }
  // w ← w + a xᵢ
  template <class W> void add(int64_t i, W a, W* w) const { accumulate(row(i), a, w, d); }
  // ‖xᵢ‖²
  double square(int64_t i) const { return inner_in<double>(row(i), row(i), d); }
  // sₖ ← ⟨wₖ, xᵢ⟩ for every class k; weights are (K, d)
  template <class W> void scores(int64_t i, Matrix<W> w, double* s) const {
    for (int64_t k = 0; k < w.shape[0]; ++k) s[k] = double(dot(i, w.row(k)));
  }
  // wₖ ← wₖ + aₖ xᵢ for every class with aₖ ≠ 0
  template <class W> void add_to(int64_t i, const double* a, int64_t classes, Matrix<W> w) const {
    for (int64_t k = 0; k < classes; ++k)
      if (a[k] != 0) add(i, W(a[k]), w.row(k));
  }
  // Calls visit(j, xᵢⱼ) for the features that a row holds.
  template <class Visit> void each(int64_t i, Visit visit) const {
    for (int64_t j = 0; j < d; ++j) visit(j, row(i)[j]);
  }
  // How wide weights of so many classes are in this layout: scores need as much room.
  template <class W> bool holds(Matrix<W> w, int64_t classes) const { return w.shape[0] == classes && w.shape[1] == d; }
  // Ask for the memory of a row, to be there when it is visited.
  void bring(int64_t i) const {
    const char* from = reinterpret_cast<const char*>(row(i));
    const int64_t most = std::min<int64_t>(d * int64_t(sizeof(T)), 1024);  // the rest comes by itself
    for (int64_t at = 0; at < most; at += 64) __builtin_prefetch(from + at);
  }
};

// sₗ ← Σ x · W[column, first + l] for N classes side by side, over the entries of one row. Even and odd entries are
// summed apart: two chains hide the latency of a sum where N is small.
template <int N, class T, class W>
inline void scores_side_by_side(const T* x, const uint32_t* column, int64_t start, int64_t stop, Matrix<W> w, int64_t first, double* s) {
  using S = std::remove_const_t<W>;
  S even[N] = {}, odd[N] = {};
  const W* origin = w.data + first;
  const int64_t stride = w.shape[1];
  int64_t e = start;
  for (; e + 2 <= stop; e += 2) {
    const W *p = origin + column[e] * stride, *q = origin + column[e + 1] * stride;
    const S u = S(x[e]), v = S(x[e + 1]);
    for (int l = 0; l < N; ++l) even[l] = fused(u, p[l], even[l]);
    for (int l = 0; l < N; ++l) odd[l] = fused(v, q[l], odd[l]);
  }
  if (e < stop)
    for (int l = 0; l < N; ++l) even[l] = fused(S(x[e]), origin[column[e] * stride + l], even[l]);
  for (int l = 0; l < N; ++l) s[first + l] = double(even[l] + odd[l]);
}

// Compressed sparse rows; `start` may begin anywhere in the entries (a part of more rows).
template <class T> struct CSR {
  using Real = T;
  static constexpr bool sparse = true;
  const T* x = nullptr;
  const uint32_t* column = nullptr;
  const int64_t* start = nullptr;
  int64_t n = 0, d = 0;

  int64_t count(int64_t i) const { return start[i + 1] - start[i]; }
  CSR part(int64_t first, int64_t m) const { return {x, column, start + first, m, d}; }
  // One entry after the other: gathers are no faster than single loads, and sums in order keep their bytes.
  template <class W> W dot(int64_t i, const W* w) const {
    W s = 0;
    for (int64_t e = start[i]; e < start[i + 1]; ++e) s = fused(W(x[e]), w[column[e]], s);
    return s;
  }
  template <class W> void add(int64_t i, W a, W* w) const {
    for (int64_t e = start[i]; e < start[i + 1]; ++e) w[column[e]] = fused(a, W(x[e]), w[column[e]]);
  }
  // Weights are (d, K), K filled up to a multiple of four: one visit to an entry serves up to 24 classes.
  template <class W> void scores(int64_t i, Matrix<W> w, double* s) const {
    const int64_t width = w.shape[1], from = start[i], to = start[i + 1];
    if (width == 1) {
      s[0] = double(dot(i, w.data));
      return;
    }
    int64_t k = 0;
    for (; width - k >= 24; k += 24) scores_side_by_side<24>(x, column, from, to, w, k, s);
    switch (width - k) {
      case 20: return scores_side_by_side<20>(x, column, from, to, w, k, s);
      case 16: return scores_side_by_side<16>(x, column, from, to, w, k, s);
      case 12: return scores_side_by_side<12>(x, column, from, to, w, k, s);
      case 8: return scores_side_by_side<8>(x, column, from, to, w, k, s);
      case 4: return scores_side_by_side<4>(x, column, from, to, w, k, s);
    }
  }
  template <class W> void add_to(int64_t i, const double* a, int64_t classes, Matrix<W> w) const {
    const int64_t stride = w.shape[1];
    for (int64_t k = 0; k < classes;) {
      int64_t some[4], many = 0;  // the next classes that receive anything: one visit for up to four
      for (; k < classes && many < 4; ++k)
        if (a[k] != 0) some[many++] = k;
      for (int64_t e = start[i]; many > 0 && e < start[i + 1]; ++e) {
        W* there = w.data + column[e] * stride;
        for (int64_t m = 0; m < many; ++m) there[some[m]] = fused(W(a[some[m]]), W(x[e]), there[some[m]]);
      }
    }
  }
  template <class Visit> void each(int64_t i, Visit visit) const {
    for (int64_t e = start[i]; e < start[i + 1]; ++e) visit(int64_t(column[e]), x[e]);
  }
  template <class W> bool holds(Matrix<W> w, int64_t classes) const {
    return w.shape[0] == d && (classes == 1 ? w.shape[1] == 1 : w.shape[1] % 4 == 0 && w.shape[1] >= classes);
  }
  double square(int64_t i) const {
    double s = 0;
    for (int64_t e = start[i]; e < start[i + 1]; ++e) s += double(x[e]) * double(x[e]);
    return s;
  }
  // Ask for the memory of a row, to be there when it is visited.
  void bring(int64_t i) const {
    for (int64_t e = start[i]; e < start[i + 1]; e += 64 / int64_t(sizeof(T))) __builtin_prefetch(x + e);
    for (int64_t e = start[i]; e < start[i + 1]; e += 16) __builtin_prefetch(column + e);
  }
};

// Calls bind(rows) for each layout that exists.
template <class Bind> void each_layout(Bind bind) {
  bind(Dense<double>{});
  bind(Dense<float>{});
  bind(CSR<double>{});
  bind(CSR<float>{});
}
}  // namespace linsep

namespace nanobind::detail {
template <class T> struct type_caster<linsep::Dense<T>> {
  using Taken = linsep::Dense<T>;
  NB_TYPE_CASTER(Taken, const_name("Dense[") + linsep::type_name<T>() + const_name("]"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* given = source.ptr();
    linsep::Matrix<const T> X;
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 1 || !linsep::read_array(PyTuple_GET_ITEM(given, 0), X)) return false;
    value = {X.data, X.shape[0], X.shape[1]};
    return true;
  }
  static handle from_cpp(const Taken&, rv_policy, cleanup_list*) noexcept = delete;
};

template <class T> struct type_caster<linsep::CSR<T>> {
  using Taken = linsep::CSR<T>;
  NB_TYPE_CASTER(Taken, const_name("CSR[") + linsep::type_name<T>() + const_name("]"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* given = source.ptr();
    linsep::Vector<const T> x;
    linsep::Vector<const uint32_t> column;
    linsep::Vector<const int64_t> start;
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 4 || !linsep::read_array(PyTuple_GET_ITEM(given, 0), x) ||
        !linsep::read_array(PyTuple_GET_ITEM(given, 1), column) || !linsep::read_array(PyTuple_GET_ITEM(given, 2), start))
      return false;
    const int64_t n = start.shape[0] - 1, d = PyLong_AsLongLong(PyTuple_GET_ITEM(given, 3));
    if (d == -1 && PyErr_Occurred()) PyErr_Clear();
    if (n < 0 || d < 0 || x.shape[0] != column.shape[0] || start[0] < 0 || start[n] > x.shape[0]) return false;
    value = {x.data, column.data, start.data, n, d};
    return true;
  }
  static handle from_cpp(const Taken&, rv_policy, cleanup_list*) noexcept = delete;
};
}  // namespace nanobind::detail
