// Crammer and Singer's machine, row by row: descent on its dual, its augmented Lagrangian, steps along its central path.
//
//   ξ = max over k of z_k,   z_k = s_k − s_y + [k ≠ y];   the multipliers of a row lie on a simplex
//
// Arrays of steps along the central path are (K, n): a row of them for each class.
#include <algorithm>
#include <limits>
#include <vector>

#include "rows.hpp"
#include "vectors.hpp"

namespace linsep {
using Codes = Vector<const int64_t>;
constexpr double NOWHERE = std::numeric_limits<double>::infinity();
constexpr int64_t CHUNK = 256;     // rows that are walked over class by class
constexpr int64_t MOST_REST = 8;   // passes that a row sits out, at most
constexpr double STILL = 1e-15;    // of its cap: what a row moves by that did not move

inline int64_t class_of(Codes codes, int64_t i, int64_t K) {
  const int64_t y = codes[i];
  require(y >= 0 && y < K, "codes must be numbers of classes");
  return y;
}

// Σ or largest of term(k), k < n, in four lanes: rows have few classes.
template <class Term, class Join> inline double four_lanes(int64_t n, double none, Term term, Join join) {
  double lanes[4] = {none, none, none, none};
  int64_t k = 0;
  for (; k + 4 <= n; k += 4)
    for (int l = 0; l < 4; ++l) lanes[l] = join(lanes[l], term(k + l));
  for (int l = 0; k + l < n; ++l) lanes[l] = join(lanes[l], term(k + l));
  return join(join(lanes[0], lanes[2]), join(lanes[1], lanes[3]));
}
template <class Term> inline double sum_of(int64_t n, Term term) {
  return four_lanes(n, 0.0, term, [](double a, double b) { return a + b; });
}
template <class Term> inline double largest_of(int64_t n, Term term) {
  return four_lanes(n, -NOWHERE, term, [](double a, double b) { return a > b ? a : b; });
}

// β with Σ max(0, q_k − β) = total. Michelot's rounds: entries that are not above β are left out, and β rises.
inline double threshold(const double* q, int64_t K, double total) {
  const double sum = sum_of(K, [q](int64_t k) { return q[k]; }), largest = largest_of(K, [q](int64_t k) { return q[k]; });
  double beta = std::max((sum - total) / double(K), largest - total);
  for (;;) {
    const double above = sum_of(K, [=](int64_t k) { return q[k] > beta ? q[k] : 0.0; });
    const double left = sum_of(K, [=](int64_t k) { return q[k] > beta ? 1.0 : 0.0; });
    const double best = left > 0 ? (above - total) / left : beta;
    if (!(best > beta)) return beta;
    beta = best;
  }
}

// ⟨x, w⟩ and w ← w + a x with vectors kept in registers: twice as fast as loops where rows are long.
template <class T> inline T long_dot(const T* x, const T* w, int64_t n) {
  using V = Vec<T>;
  V one = V::same(0), two = one, three = one, four = one;
  int64_t j = 0;
  for (; j + 4 * V::lanes <= n; j += 4 * V::lanes) {
    one = fused(V::load(x + j), V::load(w + j), one);
    two = fused(V::load(x + j + V::lanes), V::load(w + j + V::lanes), two);
    three = fused(V::load(x + j + 2 * V::lanes), V::load(w + j + 2 * V::lanes), three);
    four = fused(V::load(x + j + 3 * V::lanes), V::load(w + j + 3 * V::lanes), four);
  }
  T lanes[V::lanes], sum = 0;
  ((one + three) + (two + four)).store(lanes);
  for (T lane : lanes) sum += lane;
  for (; j < n; ++j) sum = fused(x[j], w[j], sum);
  return sum;
}
template <class T> inline void long_add(const T* x, T a, T* w, int64_t n) {
  using V = Vec<T>;
  int64_t j = 0;
  for (; j + V::lanes <= n; j += V::lanes) fused(V::same(a), V::load(x + j), V::load(w + j)).store(w + j);
  for (; j < n; ++j) w[j] = fused(a, x[j], w[j]);
}
inline double long_dot(const float* x, const double* w, int64_t n) { return inner(x, w, n); }
inline void long_add(const float* x, double a, double* w, int64_t n) { accumulate(x, a, w, n); }

// w_k ← w_k + a_k xᵢ; `a` is as wide as the weights of the layout. Where many change, all classes at each entry.
template <class T> inline void add_classes(const Dense<T>& rows, int64_t i, const double* a, int64_t K, Matrix<double> W) {
  for (int64_t k = 0; k < K; ++k)
    if (a[k] != 0) long_add(rows.row(i), a[k], W.row(k), rows.d);
}
template <class T> inline void class_scores(const Dense<T>& rows, int64_t i, Matrix<double> W, double* s) {
  for (int64_t k = 0; k < W.shape[0]; ++k) s[k] = long_dot(rows.row(i), W.row(k), rows.d);
}
template <class T> inline void class_scores(const CSR<T>& rows, int64_t i, Matrix<double> W, double* s) { rows.scores(i, W, s); }
template <class T> inline void add_classes(const CSR<T>& rows, int64_t i, const double* a, int64_t K, Matrix<double> W) {
  const int64_t width = W.shape[1];
  if (4 * std::count_if(a, a + K, [](double one) { return one != 0; }) <= width) return rows.add_to(i, a, K, W);
  for (int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
    double* w = W.data + rows.column[e] * width;
    const double x = double(rows.x[e]);
    for (int64_t k = 0; k < width; ++k) w[k] = fused(a[k], x, w[k]);
  }
}

// One pass: moves the multipliers of each row that does not rest to their best place. With the others fixed, row i
// minimises ½q‖Aᵢ − old‖² + ⟨z, Aᵢ⟩ + …, q = ‖xᵢ‖² + ρ: A_k = min(cap_k, (β − B_k)/q) with the β at which Σ A_k = 0, B = z − qA.
// Changes A, W, b and `rest`, whose columns are the passes to sit out and the last such number. A row that lacks `least`
// at most is left as it is. Returns what the rows lack as they are met, Uξ + ⟨z, A⟩ each.
template <class Rows>
static double sweep(Rows rows, Codes codes, Vector<const double> caps, Vector<const double> squares, Vector<const int64_t> order,
                    double rho, double least, Matrix<double> A, Matrix<double> W, Vector<double> b, Matrix<int64_t> rest) {
  const int64_t n = rows.n, K = b.shape[0];
  require(codes.shape[0] == n && caps.shape[0] == n && squares.shape[0] == n && A.shape[0] == n && A.shape[1] == K &&
              rest.shape[0] == n && rest.shape[1] == 2 && rows.holds(W, K) && K > 1,
          "there must be a class, a cap and multipliers for each row, and weights for each class");
  const int64_t width = Rows::sparse ? W.shape[1] : K;
  std::vector<double> room(size_t(2 * width));
  double *s = room.data(), *step = s + width, lacking = 0;
  for (int64_t at = 0; at < order.shape[0]; ++at) {
    const int64_t i = order[at];
    require(i >= 0 && i < n, "order must hold numbers of rows");
    if (caps[i] <= 0) continue;
    int64_t* sits = rest.row(i);
    if (sits[0] > 0) {
      --sits[0];
      continue;
    }
    const int64_t y = class_of(codes, i, K);
    const double q = squares[i] + rho, edge = q * caps[i];
    double* a = A.row(i);
    class_scores(rows, i, W, s);
    for (int64_t k = 0; k < K; ++k) s[k] += b[k] + 1.0;
    s[y] -= 1.0;
    const double top = largest_of(K, [s](int64_t k) { return s[k]; });
    const double lack = caps[i] * (top - s[y]) + sum_of(K, [a, s](int64_t k) { return a[k] * s[k]; });
    double change = 0;
    lacking += std::max(lack, 0.0);
    if (lack > least) {
      for (int64_t k = 0; k < K; ++k) s[k] -= q * a[k];
      s[y] += edge;
      const double beta = threshold(s, K, edge), inverse = 1.0 / q, own = std::min(caps[i], (beta - s[y] + edge) * inverse);
      for (int64_t k = 0; k < K; ++k) step[k] = std::min(0.0, (beta - s[k]) * inverse);
      step[y] = own;
      for (int64_t k = 0; k < K; ++k) {
        const double before = a[k];
        a[k] = step[k];
        step[k] -= before;
        b[k] += rho * step[k];
      }
      change = largest_of(K, [step](int64_t k) { return std::abs(step[k]); });
    }
    if (change > 0) add_classes(rows, i, step, K, W);
    sits[1] = change <= STILL * caps[i] ? std::min(MOST_REST, 2 * sits[1] + 1) : 0;
    sits[0] = sits[1];
  }
  return lacking;
}

// W ← W + Σ Aᵢxᵢᵀ
template <class Rows> static void combine(Rows rows, Matrix<const double> A, Matrix<double> W) {
  require(A.shape[0] == rows.n && rows.holds(W, A.shape[1]), "there must be multipliers for each row, and weights for each class");
  for (int64_t i = 0; i < rows.n; ++i) rows.add_to(i, A.row(i), A.shape[1], W);
}

// Σ Uξ
template <class Rows>
static double charge(Rows rows, Codes codes, Vector<const double> caps, Matrix<double> W, Vector<const double> b) {
  const int64_t K = b.shape[0];
  require(codes.shape[0] == rows.n && caps.shape[0] == rows.n && rows.holds(W, K), "there must be a class and a cap for each row");
  std::vector<double> s(size_t(std::max(W.shape[1], K)));
  double total = 0;
  for (int64_t i = 0; i < rows.n; ++i) {
    if (caps[i] <= 0) continue;
    const int64_t y = class_of(codes, i, K);
    class_scores(rows, i, W, s.data());
    const double own = s[y] + b[y];
    double most = 0;
    for (int64_t k = 0; k < K; ++k) most = std::max(most, k == y ? 0.0 : 1.0 + s[k] + b[k] - own);
    total += caps[i] * most;
  }
  return total;
}

// The smoothed loss φ(z) = max over p of ⟨p, z⟩ − (ε/2)‖p − c‖², reached at p = the projection of c + z/ε.
// S ← S + t·dS; P ← the projections there. Returns in `sums` Σ U max z, Σ U(1 − p_y), Σ U⟨p, z⟩ and Σ U‖p − c‖².
static void project(Matrix<double> S, Matrix<const double> dS, double t, Matrix<const double> centre, Codes codes,
                    Vector<const double> caps, double epsilon, Matrix<double> P, Vector<double> sums) {
  const int64_t n = S.shape[0], K = S.shape[1];
  require(dS.size() == S.size() && centre.size() == S.size() && P.size() == S.size() && dS.shape[0] == n && centre.shape[0] == n &&
              P.shape[0] == n && codes.shape[0] == n && caps.shape[0] == n && sums.shape[0] == 4 && K > 1,
          "there must be scores, centres and multipliers for each row");
  std::fill(sums.data, sums.data + 4, 0.0);
  const double inverse = 1.0 / epsilon;
  for (int64_t i = 0; i < n; ++i) {
    double *s = S.row(i), *p = P.row(i);
    const double* c = centre.row(i);
    const int64_t y = class_of(codes, i, K);
    for (int64_t k = 0; k < K; ++k) s[k] += t * dS(i, k);
    const double own = s[y] - 1.0;
    double top = 0, mean = 0, moved = 0;
    for (int64_t k = 0; k < K; ++k) p[k] = s[k] - own;
    p[y] = 0;
    for (int64_t k = 0; k < K; ++k) {
      top = std::max(top, p[k]);
      p[k] = p[k] * inverse + c[k];
    }
    const double beta = threshold(p, K, 1.0);
    for (int64_t k = 0; k < K; ++k) {
      p[k] = std::max(0.0, p[k] - beta);
      mean += k == y ? 0.0 : p[k] * (s[k] - own);
      moved += (p[k] - c[k]) * (p[k] - c[k]);
    }
    sums[0] += caps[i] * top;
    sums[1] += caps[i] * (1.0 - p[y]);
    sums[2] += caps[i] * mean;
    sums[3] += caps[i] * moved;
  }
}

// Σ Uφ at S + t·dS and its derivative in t, Σ U⟨p, dz⟩, into `sums`.
static void along(Matrix<const double> S, Matrix<const double> dS, double t, Matrix<const double> centre, Codes codes,
                  Vector<const double> caps, double epsilon, Vector<double> sums) {
  const int64_t n = S.shape[0], K = S.shape[1];
  require(dS.size() == S.size() && centre.size() == S.size() && dS.shape[0] == n && centre.shape[0] == n && codes.shape[0] == n &&
              caps.shape[0] == n && sums.shape[0] == 2 && K > 1,
          "there must be scores and centres for each row");
  std::fill(sums.data, sums.data + 2, 0.0);
  std::vector<double> q((size_t(K)));
  const double inverse = 1.0 / epsilon;
  for (int64_t i = 0; i < n; ++i) {
    const double *s = S.row(i), *d = dS.row(i), *c = centre.row(i);
    const int64_t y = class_of(codes, i, K);
    const double own = s[y] + t * d[y] - 1.0;
    for (int64_t k = 0; k < K; ++k) q[k] = (s[k] + t * d[k] - own) * inverse + c[k];
    q[y] = c[y];
    const double beta = threshold(q.data(), K, 1.0);
    double value = 0, rise = 0;
    for (int64_t k = 0; k < K; ++k) {
      const double p = std::max(0.0, q[k] - beta);
      value += 2.0 * p * (q[k] - c[k]) - (p - c[k]) * (p - c[k]);
      rise += p * (d[k] - d[y]);
    }
    sums[0] += caps[i] * 0.5 * epsilon * value;
    sums[1] += caps[i] * rise;
  }
}

// V ← V + Σ hᵢ M(Qx̃ᵢ)x̃ᵢᵀ, M the projection onto {v : Σ v = 0, v_k = 0 where p_k = 0}; Q and V end with intercepts. Classes with
// p > 0 of row i = chosen[j] are classes[from[j]], …: few as a rule, so that a row is read once for a few of its products.
template <class T, class R>
static void curve(Matrix<const T> X, Vector<const int64_t> chosen, Vector<const int64_t> from, Vector<const int32_t> classes,
                  Vector<const double> h, Matrix<const R> Q, Matrix<R> V) {
  const int64_t m = chosen.shape[0], d = X.shape[1], K = Q.shape[0];
  require(from.shape[0] == m + 1 && h.shape[0] == m && Q.shape[1] == d + 1 && V.shape[0] == K && V.shape[1] == d + 1,
          "weights must have a number for each feature and the intercept");
  std::vector<double> u((size_t(K)));
  for (int64_t j = 0; j < m; ++j) {
    const int64_t first = from[j], count = from[j + 1] - first, i = chosen[j];
    require(i >= 0 && i < X.shape[0] && count > 0 && count <= K && first >= 0 && first + count <= classes.shape[0], "lists must lie within rows");
    const T* x = X.row(i);
    double mean = 0;
    for (int64_t l = 0; l < count; ++l) {
      const int64_t k = classes[first + l];
      require(k >= 0 && k < K, "lists must hold numbers of classes");
      u[l] = double(long_dot(x, Q.row(k), d) + Q(k, d));
      mean += u[l];
    }
    mean /= double(count);
    for (int64_t l = 0; l < count; ++l) {
      const R a = R(h[j] * (u[l] - mean));
      R* v = V.row(classes[first + l]);
      long_add(x, a, v, d);
      v[d] += a;
    }
  }
}

// Where multipliers and slacks are, after a part `size` of a step: changes S, a and ξ, and makes t = ξ − z, d = a/t and `top`,
// the class of the largest d. Into `out`: Σ at, Σ Uξ of the least ξ, Σ a of other classes.
static void arrive(Matrix<double> S, Matrix<double> a, Vector<double> xi, Codes codes, Vector<const double> caps,
                   Matrix<const double> ds, Matrix<const double> da, Vector<const double> dxi, double size, Matrix<double> t,
                   Matrix<double> d, Vector<int64_t> top, Vector<double> out) {
  const int64_t K = S.shape[0], n = S.shape[1];
  for (auto* one : {&a, &t, &d}) require(one->shape[0] == K && one->shape[1] == n, "arrays must be as large as the scores");
  for (auto* one : {&ds, &da}) require(one->shape[0] == K && one->shape[1] == n, "steps must be as large as the scores");
  require(xi.shape[0] == n && codes.shape[0] == n && caps.shape[0] == n && dxi.shape[0] == n && top.shape[0] == n && out.shape[0] == 3,
          "there must be a number for each row");
  double own[CHUNK], charge[CHUNK], together = 0, charged = 0, away = 0;
  for (int64_t start = 0; start < n; start += CHUNK) {
    const int64_t m = std::min(CHUNK, n - start);
    for (int64_t i = 0; i < m; ++i) {
      const int64_t y = class_of(codes, start + i, K);
      xi[start + i] += size * dxi[start + i];
      own[i] = S(y, start + i) + size * ds(y, start + i);
      charge[i] = 0;
      top[start + i] = 0;
      for (int64_t k = 0; k < K; ++k) t(k, start + i) = k == y ? 0.0 : 1.0;
    }
    for (int64_t k = 0; k < K; ++k)
      for (int64_t i = 0; i < m; ++i) {
        const int64_t j = start + i;
        S(k, j) += size * ds(k, j);
        a(k, j) += size * da(k, j);
        const double slack = xi[j] - (S(k, j) - own[i] + t(k, j));
        t(k, j) = slack;
        together += a(k, j) * slack;
        charge[i] = std::max(charge[i], xi[j] - slack);
        d(k, j) = a(k, j) / slack;
      }
    for (int64_t i = 0; i < m; ++i) {
      const int64_t j = start + i;
      charged += caps[j] * charge[i];
      for (int64_t k = 0; k < K; ++k) {
        if (d(k, j) > d(top[j], j)) top[j] = k;
        away += k == codes[j] ? 0.0 : a(k, j);
      }
    }
  }
  out[0] = together, out[1] = charged, out[2] = away;
}

// values of class `top` ← less those of all others, so that each row adds up to zero: there digits would cancel
static void settle(Matrix<double> values, Vector<const int64_t> top, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) {
    const int64_t most = top[i];
    require(most >= 0 && most < values.shape[0], "top must hold numbers of classes");
    values(most, i) = 0;
    double total = 0;
    for (int64_t k = 0; k < values.shape[0]; ++k) total += values(k, i);
    values(most, i) = -total;
  }
}

// The step to where every at is mu (less the da·dt of the step before where `bent`), in the terms that do not ask for ds:
// q and c of da = q + d(ds − m), dξ = c + m − ds_y, dt = c + m − ds, m = Σ d ds / Σ d.
static void aim(Matrix<const double> a, Matrix<const double> t, Matrix<const double> d, Matrix<const double> da,
                Matrix<const double> dt, double mu, bool bent, Vector<const int64_t> top, Matrix<double> q, Vector<double> c) {
  const int64_t K = a.shape[0], n = a.shape[1];
  for (auto* one : {&t, &d, &da, &dt}) require(one->shape[0] == K && one->shape[1] == n, "arrays must be as large as the multipliers");
  require(q.shape[0] == K && q.shape[1] == n && top.shape[0] == n && c.shape[0] == n, "there must be a number for each row");
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0, total = 0;
    for (int64_t k = 0; k < K; ++k) {
      q(k, i) = (bent ? mu - da(k, i) * dt(k, i) : mu) / t(k, i) - a(k, i);
      sum += q(k, i);
      total += d(k, i);
    }
    c[i] = sum / total;
    for (int64_t k = 0; k < K; ++k) q(k, i) -= d(k, i) * c[i];
  }
  settle(q, top, 0, n);
}

// The step for a change ds of the scores. Into `out`: the least of da/a and dt/t, Σ (a dt + t da), Σ da dt.
static void follow(Matrix<const double> ds, Codes codes, Matrix<const double> a, Matrix<const double> t, Matrix<const double> d,
                   Matrix<const double> q, Vector<const double> c, Vector<const int64_t> top, Matrix<double> da, Matrix<double> dt,
                   Vector<double> dxi, Vector<double> out) {
  const int64_t K = a.shape[0], n = a.shape[1];
  for (auto* one : {&ds, &t, &d, &q}) require(one->shape[0] == K && one->shape[1] == n, "arrays must be as large as the multipliers");
  for (auto* one : {&da, &dt}) require(one->shape[0] == K && one->shape[1] == n, "steps must be as large as the multipliers");
  require(codes.shape[0] == n && top.shape[0] == n && c.shape[0] == n && dxi.shape[0] == n && out.shape[0] == 3, "there must be a number for each row");
  double low = NOWHERE, across = 0, square = 0;
  for (int64_t i = 0; i < n; ++i) {
    double mean = 0, total = 0;
    for (int64_t k = 0; k < K; ++k) {
      mean += d(k, i) * ds(k, i);
      total += d(k, i);
    }
    mean /= total;
    dxi[i] = c[i] + mean - ds(class_of(codes, i, K), i);
    for (int64_t k = 0; k < K; ++k) {
      da(k, i) = q(k, i) + d(k, i) * (ds(k, i) - mean);
      dt(k, i) = c[i] + mean - ds(k, i);
    }
  }
  settle(da, top, 0, n);
  for (int64_t i = 0; i < K * n; ++i) {
    across += a[i] * dt[i] + t[i] * da[i];
    square += da[i] * dt[i];
    low = std::min(low, std::min(da[i] / a[i], dt[i] / t[i]));
  }
  out[0] = low, out[1] = across, out[2] = square;
}

void bind_crammer_singer(nb::module_ m) {
  each_layout([&m](auto rows) {
    using Rows = decltype(rows);
    def(m, "sweep", sweep<Rows>, "One pass of descent over rows in an order; what they lack.");
    def(m, "combine", combine<Rows>, "Σ Axᵀ");
    def(m, "charge", charge<Rows>, "Σ Uξ");
  });
  def(m, "project", project, "Scores after a step, their multipliers, and sums of both.");
  def(m, "along", along, "The smoothed loss along a step, and its slope.");
  def(m, "curve", curve<double, double>, "Curvature of the smoothed loss, times weights.");
  def(m, "curve", curve<float, double>);
  def(m, "curve", curve<float, float>);
  def(m, "arrive", arrive, "Multipliers and slacks after a step along the central path.");
  def(m, "aim", aim, "What the next step along the central path aims at.");
  def(m, "follow", follow, "A step along the central path, and how far it stays inside.");
}
}  // namespace linsep
