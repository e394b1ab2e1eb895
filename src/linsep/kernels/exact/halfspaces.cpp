// Searches for separators and margins, and first looks at rows. They propose: what they find is proved elsewhere.
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "rows.hpp"

namespace linsep {
static void require_order(Vector<const int64_t> order, int64_t n) {
  bool within = true;
  for (int64_t k = 0; k < order.shape[0]; ++k) within &= 0 <= order[k] && order[k] < n;
  require(within, "order must be numbers of rows");
}
static void require_codes(Vector<const int32_t> codes, int64_t n, int64_t classes) {
  require(codes.shape[0] == n, "codes must have a number for each row");
  bool within = true;
  for (int64_t i = 0; i < n; ++i) within &= 0 <= codes[i] && codes[i] < classes;
  require(within, "codes must be numbers of classes");
}

// Rosenblatt's rule, passes done + 1 to done + most, or until one makes no mistake: yᵢ(⟨w, xᵢ⟩ + b) ≤ 0 moves w by yᵢxᵢ and
// b by yᵢc², and notes the pass in `touched`. Changes w; returns b and the mistakes of the last pass.
template <class Rows>
static std::pair<double, int64_t> passes(Rows rows, Vector<const double> signs, Vector<const int64_t> order, Vector<double> w,
                                         double b, double constant, Vector<int64_t> touched, int64_t done, int64_t most) {
  require(w.shape[0] == rows.d, "w must have a weight for each feature");
  require(signs.shape[0] == rows.n && touched.shape[0] >= rows.n, "signs and touched must have a number for each row");
  require_order(order, rows.n);
  int64_t mistakes = 0;
  for (int64_t pass = done + 1; pass <= done + most; ++pass) {
    mistakes = 0;
    for (int64_t k = 0; k < order.shape[0]; ++k) {
      const int64_t i = order[k];
      if (signs[i] * (rows.dot(i, w.data) + b) > 0) continue;
      rows.add(i, signs[i], w.data);
      b += signs[i] * constant;
      touched[i] = pass;
      ++mistakes;
    }
    if (mistakes == 0) break;
  }
  return {b, mistakes};
}

// The weights of all classes: dense rows take them class by class, (K, d), sparse ones feature by feature, (d, K).
template <class Rows> struct Planes {
  Rows rows;
  Matrix<double> W;
  int64_t K;

  Planes(Rows rows, Matrix<double> W) : rows(rows), W(W), K(W.shape[Rows::sparse]) {
    require(W.shape[!Rows::sparse] == rows.d, "W must have a weight for each feature");
  }
  // sₖ ← ⟨wₖ, xᵢ⟩
  void scores(int64_t i, double* s) const {
    if constexpr (Rows::sparse) {
      std::fill(s, s + K, 0.0);
      for (int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) accumulate(W.row(rows.column[e]), double(rows.x[e]), s, K);
    } else {
      for (int64_t k = 0; k < K; ++k) s[k] = rows.dot(i, W.row(k));
    }
  }
  // wₖ ← wₖ + a xᵢ
  void add(int64_t i, double a, int64_t k) const {
    if constexpr (Rows::sparse)
      for (int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) W(rows.column[e], k) += a * double(rows.x[e]);
    else
      rows.add(i, a, W.row(k));
  }
};

// The same in Kesler's construct: each row against the rival that scores best. Returns the mistakes.
template <class Rows>
static int64_t kesler_passes(Rows rows, Vector<const int32_t> codes, Vector<const int64_t> order, Matrix<double> W, Vector<double> b,
                             double constant, Vector<double> s, Vector<int64_t> touched, int64_t done, int64_t most) {
  const Planes<Rows> planes(rows, W);
  const int64_t K = b.shape[0];
  require(2 <= K && K <= planes.K && s.shape[0] == planes.K, "W, b and s must have a number for each class");
  require(touched.shape[0] >= rows.n * K, "touched must have a number for each row and class");
  require_codes(codes, rows.n, K);
  require_order(order, rows.n);
  int64_t mistakes = 0;
  for (int64_t pass = done + 1; pass <= done + most; ++pass) {
    mistakes = 0;
    for (int64_t m = 0; m < order.shape[0]; ++m) {
      const int64_t i = order[m], y = codes[i];
      planes.scores(i, s.data);
      int64_t rival = -1;
      for (int64_t k = 0; k < K; ++k) {
        s[k] += b[k];
        if (k != y && (rival < 0 || s[k] > s[rival])) rival = k;
      }
      if (s[y] > s[rival]) continue;
      planes.add(i, 1.0, y);
      planes.add(i, -1.0, rival);
      b[y] += constant;
      b[rival] -= constant;
      touched[i * K + rival] = pass;
      ++mistakes;
    }
    if (mistakes == 0) break;
  }
  return mistakes;
}

// Hildreth's sweeps: αᵢ ← max(0, αᵢ + (1 − yᵢ(⟨w, xᵢ⟩ + b))/(‖xᵢ‖² + c²)), and w and b follow. Changes α and w, returns b.
template <class Rows>
static double margin_sweeps(Rows rows, Vector<const double> signs, Vector<const double> squares, Vector<const int64_t> order,
                            double constant, Vector<double> alpha, Vector<double> w, double b, int64_t times) {
  const int64_t n = rows.n;
  require(w.shape[0] == rows.d, "w must have a weight for each feature");
  require(signs.shape[0] == n && squares.shape[0] == n && alpha.shape[0] == n, "signs, squares, α must have a number for each row");
  require_order(order, n);
  for (; times > 0; --times)
    for (int64_t k = 0; k < order.shape[0]; ++k) {
      const int64_t i = order[k];
      const double lack = 1.0 - signs[i] * (rows.dot(i, w.data) + b);
      const double a = std::max(0.0, alpha[i] + lack / squares[i]), step = a - alpha[i];
      if (step == 0.0) continue;
      alpha[i] = a;
      rows.add(i, step * signs[i], w.data);
      b += step * signs[i] * constant;
    }
  return b;
}

// The same for many classes without a free bias: the dual of ½‖W‖² is maximised in each αᵢₖ in turn. The constant feature c has the
// weights v, and ‖z‖² = 2‖x̃‖²: a row enters its own class and leaves class k.
template <class Rows>
static void kesler_sweep(Rows rows, Vector<const int32_t> codes, Vector<const double> squares, Vector<const int64_t> order, double c,
                         Matrix<double> alpha, Matrix<double> W, Vector<double> v, Vector<double> s) {
  const int64_t K = v.shape[0];
  require(W.shape[0] == K && W.shape[1] == rows.d && s.shape[0] == K, "W, v and s must have a number for each class");
  require(squares.shape[0] == rows.n, "squares must have a number for each row");
  require(alpha.shape[0] == rows.n && alpha.shape[1] == K, "α must have a number for each row and class");
  require_codes(codes, rows.n, K);
  require_order(order, rows.n);
  for (int64_t m = 0; m < order.shape[0]; ++m) {
    const int64_t i = order[m], y = codes[i];
    const double q = squares[i] + c * c;
    double own = 0.0;
    for (int64_t k = 0; k < K; ++k) s[k] = rows.dot(i, W.row(k)) + v[k] * c;
    for (int64_t k = 0; k < K; ++k) {
      if (k == y || q == 0.0) continue;
      const double a = std::max(0.0, alpha(i, k) + (1.0 - (s[y] - s[k])) / (2.0 * q)), step = a - alpha(i, k);
      if (step == 0.0) continue;
      alpha(i, k) = a;
      rows.add(i, -step, W.row(k));
      v[k] -= step * c;
      s[y] += step * q;
      s[k] -= step * q;
      own += step;
    }
    if (own == 0.0) continue;
    rows.add(i, own, W.row(y));
    v[y] += own * c;
  }
}

// The least and largest entry of each column, class by class; of sparse rows those that are stored, which `seen` counts.
template <class Rows>
static void ranges(Rows rows, Vector<const int32_t> codes, Matrix<double> low, Matrix<double> high, Matrix<int64_t> seen) {
  const int64_t K = low.shape[0], d = rows.d;
  require(low.shape[1] == d && high.shape[0] == K && high.shape[1] == d, "low and high must have a number for each class and column");
  require(!Rows::sparse || (seen.shape[0] == K && seen.shape[1] == d), "seen must have a number for each class and column");
  require_codes(codes, rows.n, K);
  for (int64_t i = 0; i < rows.n; ++i) {
    double *least = low.row(codes[i]), *most = high.row(codes[i]);
    if constexpr (Rows::sparse) {
      for (int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
        const int64_t j = rows.column[e];
        const double x = rows.x[e];
        least[j] = x < least[j] ? x : least[j];
        most[j] = x > most[j] ? x : most[j];
        seen(codes[i], j) += 1;
      }
    } else {
      const auto* row = rows.row(i);
      for (int64_t j = 0; j < d; ++j) {
        const double x = row[j];
        least[j] = x < least[j] ? x : least[j];
        most[j] = x > most[j] ? x : most[j];
      }
    }
  }
}

// The bits of a number; those of −0 are those of 0.
template <class T> static uint64_t bits_of(T x) {
  std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t> bits;
  x += T(0);
  std::memcpy(&bits, &x, sizeof(T));
  return bits;
}

// keyᵢ ← Σ bits(xᵢⱼ) factorⱼ modulo 2^64: equal for equal rows
template <class Rows> static void row_keys(Rows rows, Vector<const uint64_t> factors, Vector<uint64_t> keys) {
  require(factors.shape[0] == rows.d && keys.shape[0] == rows.n, "there must be a factor for each column and a key for each row");
  for (int64_t i = 0; i < rows.n; ++i) {
    uint64_t total = 0;
    if constexpr (Rows::sparse)
      for (int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) total += bits_of(rows.x[e]) * factors[rows.column[e]];
    else
      for (int64_t j = 0; j < rows.d; ++j) total += bits_of(rows.row(i)[j]) * factors[j];
    keys[i] = total;
  }
}

// Moves x along relation k (column k) until an entry that is still active vanishes. Returns its place, -1 if none does.
static int64_t move_along(Matrix<double> relations, int64_t k, Vector<double> x, Vector<bool> active) {
  const int64_t n = relations.shape[0];
  double largest = 0.0, shortest = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(relations(i, k)));
  int64_t out = -1;
  for (double sign = 1.0; sign >= -1.0 && out < 0; sign -= 2.0) {
    for (int64_t i = 0; i < n; ++i) {
      const double r = sign * relations(i, k);
      if (active[i] && r > 1e-9 * largest && x[i] < shortest * r) out = i, shortest = x[i] / r;
    }
    if (out >= 0) shortest *= sign;
  }
  if (out < 0) return -1;
  for (int64_t i = 0; i < n; ++i) x[i] = std::max(x[i] - shortest * relations(i, k), 0.0);
  x[out] = 0.0;
  active[out] = false;
  return out;
}

// Moves x along each relation until an entry vanishes; later relations are made to leave it at zero.
static void walk(Matrix<double> relations, Vector<double> x, Vector<bool> active) {
  const int64_t n = relations.shape[0], count = relations.shape[1];
  require(x.shape[0] == n && active.shape[0] == n, "x and active must have an entry for each row");
  for (int64_t k = 0; k < count; ++k) {
    const int64_t out = move_along(relations, k, x, active);
    if (out < 0) continue;
    const double pivot = relations(out, k), *top = relations.row(out);
    for (int64_t i = 0; i < n; ++i) {
      const double f = relations(i, k) / pivot;
      if (f == 0.0 || i == out) continue;
      double* row = relations.row(i);
      for (int64_t j = k + 1; j < count; ++j) row[j] -= f * top[j];
    }
    for (int64_t j = k + 1; j < count; ++j) relations(out, j) = 0.0;
  }
}

void bind_halfspaces(nb::module_ m) {
  each_layout([&m](auto rows) {
    using Rows = decltype(rows);
    def(m, "passes", passes<Rows>, "Rosenblatt's rule; returns b and the mistakes of the last pass.");
    def(m, "kesler_passes", kesler_passes<Rows>, "The same for many classes; returns the mistakes of the last pass.");
    def(m, "margin_sweeps", margin_sweeps<Rows>, "Hildreth's sweeps for the widest margin; returns b.");
    def(m, "kesler_sweep", kesler_sweep<Rows>, "A sweep for many classes without a free bias.");
    def(m, "ranges", ranges<Rows>, "The least and largest entry of each column, class by class.");
    def(m, "row_keys", row_keys<Rows>, "A number for each row, equal for equal rows.");
  });
  def(m, "walk", walk, "Moves a combination along relations until no more of its entries can vanish.");
}
}  // namespace linsep
