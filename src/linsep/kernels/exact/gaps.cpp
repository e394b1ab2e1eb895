// The sums that a certificate of a gap is made of, by code that no solver runs: losses φ, slopes u = −φ′ and dual
// terms E of linsep.proofs.gap.certificate, and the products with rows. They are right to a few units in the last
// place; the certificate allows for 32.
#include "exponentials.hpp"
#include "rows.hpp"

namespace linsep {
constexpr int64_t CHUNK = 256;  // rows that are scored and added up together
constexpr int SUMS = 12;
enum class Charged : int { logistic, hinge, squared_hinge };

// Numbers of the rows of a chunk: Cᵢ, whether the side is positive, margins, φ(z), u(z), α, E(sα), the size that rounds
struct Few {
  double c[CHUNK], y[CHUNK], z[CHUNK], phi[CHUNK], u[CHUNK], a[CHUNK], E[CHUNK], size[CHUNK];
};

// sᵢ ← ⟨w, xᵢ⟩ + b, four dense rows at a time
template <class T> static void score(const Dense<T>& rows, int64_t first, int64_t m, const double* w, double b, double* s) {
  constexpr int R = 4, L = 4;
  int64_t i = 0;
  for (; i + R <= m; i += R) {
    double lanes[R][L] = {};
    const T* x = rows.row(first + i);
    int64_t j = 0;
    for (; j + L <= rows.d; j += L)
      for (int r = 0; r < R; ++r)
        for (int l = 0; l < L; ++l) lanes[r][l] = fused(double(x[r * rows.d + j + l]), w[j + l], lanes[r][l]);
    for (; j < rows.d; ++j)
      for (int r = 0; r < R; ++r) lanes[r][0] = fused(double(x[r * rows.d + j]), w[j], lanes[r][0]);
    for (int r = 0; r < R; ++r) s[i + r] = ((lanes[r][0] + lanes[r][1]) + (lanes[r][2] + lanes[r][3])) + b;
  }
  for (; i < m; ++i) s[i] = rows.dot(first + i, w) + b;
}
template <class T> static void score(const CSR<T>& rows, int64_t first, int64_t m, const double* w, double b, double* s) {
  for (int64_t i = 0; i < m; ++i) s[i] = rows.dot(first + i, w) + b;
}

// φ(z) and −φ′(z)
static void charge(Charged loss, int64_t m, const double* z, double* phi, double* u) {
  if (loss == Charged::logistic) {
    for (int64_t i = 0; i < m; ++i) {
      const double tail = exp_of_negative(-std::fabs(z[i]));
      phi[i] = log_of_one_plus(tail) + std::max(0.0, -z[i]);
      u[i] = (z[i] > 0.0 ? tail : 1.0) / (1.0 + tail);
    }
    return;
  }
  const bool squared = loss == Charged::squared_hinge;
  for (int64_t i = 0; i < m; ++i) {
    const double inside = std::max(0.0, 1.0 - z[i]);
    phi[i] = squared ? inside * inside : inside;
    u[i] = squared ? 2.0 * inside : (z[i] < 1.0 ? 1.0 : 0.0);
  }
}

// u log u + (1 − u) log(1 − u) for 0 < u < 1; too small, never too large, where u is no normal number
static double entropy(double u) {
  const double other = 1.0 - u;  // exact from ½ on
  const double complement = u <= 0.5 ? -log_of_one_plus(u / other) : log_of(other);
  return u * log_of(std::max(u, 1e-300)) + other * complement;
}

// E(a), and the size of what rounding may change in it; where C is zero, so is α
static void term(Charged loss, double a, double c, double& E, double& size) {
  c = std::max(c, 1e-300);
  if (loss == Charged::hinge) {
    E = size = a;
  } else if (loss == Charged::squared_hinge) {
    E = a - a * (a / (4.0 * c)), size = 2.0 * a;
  } else {
    const double u = std::min(1.0, a / c);
    E = 0.0 < u && u < 1.0 ? -c * entropy(u) : 0.0;
    size = E + 40.0 * a;  // where u is rounded, |H'| is below 40
  }
}

// The multipliers of a chunk, those of its own slopes or of `alpha`, and their dual terms at `shrink` times as much.
static void multipliers(Charged loss, int64_t m, const double* alpha, double shrink, Few& few) {
  for (int64_t i = 0; i < m; ++i) {
    const double c = few.c[i], u = few.u[i], z = few.z[i];
    double a = c * u;
    if (alpha != nullptr) {
      a = std::max(0.0, alpha[i]);
      if (loss != Charged::squared_hinge) a = std::min(a, c);
    }
    few.a[i] = a;
    if (loss == Charged::logistic && alpha == nullptr && shrink == 1.0) {  // Fenchel's equality
      few.E[i] = c * (few.phi[i] + z * u);
      few.size[i] = c * (few.phi[i] + std::fabs(z * u));
    } else {
      term(loss, shrink * a, c, few.E[i], few.size[i]);
    }
  }
}

// Adds to Σ Cφ, Σ t² and Σ t with slopes t for errors of scores
static void add_charges(Charged loss, int64_t m, const Few& few, double* sums) {
  const auto slope = [&](int64_t i) { return loss == Charged::squared_hinge ? few.c[i] * (few.u[i] + 1.0) : few.c[i]; };
  sums[0] += lane_sum<double>(m, [&](int64_t i) { return few.c[i] * few.phi[i]; });
  sums[1] += lane_sum<double>(m, [&](int64_t i) { return slope(i) * slope(i); });
  sums[2] += lane_sum<double>(m, [&](int64_t i) { return slope(i); });
}

// Adds to Σ |E|, Σ of sizes, Σ E and Σ α of either class, Σ Cφ″, Σ α²
static void add_terms(Charged loss, int64_t m, const Few& few, double* sums) {
  const double *a = few.a, *E = few.E, *y = few.y;
  sums[3] += lane_sum<double>(m, [&](int64_t i) { return std::fabs(E[i]); });
  sums[4] += lane_sum<double>(m, [&](int64_t i) { return few.size[i]; });
  sums[5] += lane_sum<double>(m, [&](int64_t i) { return E[i] * (1.0 - y[i]); });
  sums[6] += lane_sum<double>(m, [&](int64_t i) { return E[i] * y[i]; });
  sums[7] += lane_sum<double>(m, [&](int64_t i) { return a[i] * (1.0 - y[i]); });
  sums[8] += lane_sum<double>(m, [&](int64_t i) { return a[i] * y[i]; });
  sums[9] += lane_sum<double>(m, [&](int64_t i) {
    if (loss == Charged::logistic) return a[i] - a[i] * (a[i] / std::max(few.c[i], 1e-300));
    return a[i] > 0.0 ? 2.0 * few.c[i] : 0.0;
  });
  sums[10] += lane_sum<double>(m, [&](int64_t i) { return a[i] * a[i]; });
}

// v ← v + Σ pᵢxᵢ, four dense rows at a time
template <class T> static void combine(const Dense<T>& rows, int64_t first, int64_t m, const double* p, double* v) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) {
    const T *x0 = rows.row(first + i), *x1 = x0 + rows.d, *x2 = x1 + rows.d, *x3 = x2 + rows.d;
    const double a = p[i], b = p[i + 1], c = p[i + 2], e = p[i + 3];
    if (a == 0.0 && b == 0.0 && c == 0.0 && e == 0.0) continue;
    for (int64_t j = 0; j < rows.d; ++j)
      v[j] = fused(e, double(x3[j]), fused(c, double(x2[j]), fused(b, double(x1[j]), fused(a, double(x0[j]), v[j]))));
  }
  for (; i < m; ++i) rows.add(first + i, p[i], v);
}
template <class T> static void combine(const CSR<T>& rows, int64_t first, int64_t m, const double* p, double* v) {
  for (int64_t i = 0; i < m; ++i)
    if (p[i] != 0.0) rows.add(first + i, p[i], v);
}

// The sums of one plane over rows, and Σ αyx of either class (two rows of v) or of both together (one). Slopes are those
// of the second plane where there is one, or `alpha` where it is given. Dense rows are added up in `part` first.
template <class Rows>
static void plane(int kind, Rows rows, Vector<const bool> second, Vector<const double> C, Matrix<const double> W,
                  Vector<const double> b, Vector<const double> alpha, double shrink, Matrix<double> part, Matrix<double> v,
                  Vector<double> sums) {
  const int64_t n = rows.n, d = rows.d, planes = v.shape[0];
  require(0 <= kind && kind <= int(Charged::squared_hinge), "there is no such loss");
  require(second.shape[0] == n && (C.shape[0] == n || C.shape[0] == 1), "classes and weights must have a number for each row");
  require(alpha.shape[0] == n || alpha.shape[0] == 0, "alpha must have a number for each row, or none");
  require(W.shape[1] == d && b.shape[0] == W.shape[0] && 1 <= b.shape[0] && b.shape[0] <= 2, "W must be one or two planes");
  require(v.shape[1] == d && 1 <= planes && planes <= 2 && part.shape[0] == planes && part.shape[1] == d && sums.shape[0] == SUMS,
          "v and part must be as wide as rows");
  const Charged loss = Charged(kind);
  Few few;
  double sides[2][CHUNK];
  for (int64_t first = 0; first < n; first += CHUNK) {
    const int64_t m = std::min(CHUNK, n - first);
    const auto margins = [&](int64_t k) {
      score(rows, first, m, W.row(k), b[k], few.z);
      for (int64_t i = 0; i < m; ++i) few.z[i] *= 2.0 * few.y[i] - 1.0;
      charge(loss, m, few.z, few.phi, few.u);
    };
    for (int64_t i = 0; i < m; ++i) {
      few.y[i] = second[first + i] ? 1.0 : 0.0;
      few.c[i] = C[C.shape[0] == 1 ? 0 : first + i];
    }
    margins(0);
    add_charges(loss, m, few, sums.data);
    const bool given = alpha.shape[0] > 0;
    if (b.shape[0] > 1 && !given) margins(1);
    multipliers(loss, m, given ? alpha.data + first : nullptr, shrink, few);
    add_terms(loss, m, few, sums.data);
    double squares = 0;
    for (int64_t i = 0; i < m; ++i) squares += rows.square(first + i);
    sums[11] += squares;
    for (int64_t i = 0; i < m; ++i) {
      sides[planes - 1][i] = few.a[i] * few.y[i];
      sides[0][i] = planes > 1 ? few.a[i] * (few.y[i] - 1.0) : few.a[i] * (2.0 * few.y[i] - 1.0);
    }
    for (int64_t k = 0; k < planes; ++k) {
      if constexpr (Rows::sparse) {
        combine(rows, first, m, sides[k], v.row(k));
      } else {
        std::fill(part.row(k), part.row(k) + d, 0.0);
        combine(rows, first, m, sides[k], part.row(k));
        for (int64_t j = 0; j < d; ++j) v(k, j) += part(k, j);
      }
    }
  }
}

// Sᵢ ← Σ x · W[j] over the entries of row i, for several planes side by side
template <class T> static void all_scores(CSR<T> rows, Matrix<const double> W, Matrix<double> S) {
  require(W.shape[0] == rows.d && W.shape[1] % 4 == 0, "W must have a row for each feature, of whole lanes");
  require(S.shape[0] == rows.n && S.shape[1] == W.shape[1], "S must have a row for each row");
  for (int64_t i = 0; i < rows.n; ++i) rows.scores(i, W, S.row(i));
}

// V[j] ← V[j] + x · Aᵢ over the entries of row i
template <class T> static void all_totals(CSR<T> rows, Matrix<const double> A, Matrix<double> V) {
  const int64_t width = V.shape[1];
  require(V.shape[0] == rows.d && A.shape[0] == rows.n && A.shape[1] == width, "V must have a row for each feature");
  for (int64_t i = 0; i < rows.n; ++i)
    for (int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
      double* to = V.row(rows.column[e]);
      for (int64_t k = 0; k < width; ++k) to[k] = fused(A(i, k), double(rows.x[e]), to[k]);
    }
}

void bind_gaps(nb::module_ m) {
  each_layout([&m](auto rows) { def(m, "plane", plane<decltype(rows)>, "The sums of one plane over rows."); });
  def(m, "all_scores", all_scores<double>, "Scores of several planes side by side.");
  def(m, "all_scores", all_scores<float>);
  def(m, "all_totals", all_totals<double>, "Sums of rows for several planes side by side.");
  def(m, "all_totals", all_totals<float>);
}
}  // namespace linsep
