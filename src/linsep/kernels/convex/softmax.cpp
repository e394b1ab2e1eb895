// Scores of K classes to probabilities and back to sums over rows; products of sparse rows with the weights of all
// classes at a visit. Scores and probabilities are (K, n), a row for each class.
//
//   pₖᵢ = e^{sₖᵢ} / Σₗ e^{sₗᵢ},   ℓᵢ = log Σₖ e^{sₖᵢ} − s_yᵢ
#include <algorithm>
#include <vector>

#include "exponentials.hpp"
#include "rows.hpp"

namespace linsep {
constexpr int64_t CHUNK = 256;  // rows at a time: what is written out for them stays in the cache

// cᵢ, one number for each row or one for all
struct RowWeights {
  Vector<const double> c;
  double operator[](int64_t i) const { return c[c.shape[0] == 1 ? 0 : i]; }
};

static void require_classes(Vector<const int32_t> codes, Vector<const double> c, int64_t K, int64_t n) {
  require(K > 0 && codes.shape[0] == n && (c.shape[0] == n || c.shape[0] == 1), "codes and weights must have a number for each row");
  for (int64_t i = 0; i < n; ++i) require(0 <= codes[i] && codes[i] < K, "codes must be numbers of classes");
}

// S ← p, in place; into sums Σ cℓ, and for each class Σ cp and Σ cp(1 − p)
template <class T> static void shares(Matrix<T> S, Vector<const int32_t> codes, Vector<const double> c, Vector<double> sums) {
  const int64_t K = S.shape[0], n = S.shape[1];
  require_classes(codes, c, K, n);
  require(sums.shape[0] == 1 + 2 * K, "sums must have a number for the loss, and two for each class");
  std::fill(sums.data, sums.data + 1 + 2 * K, 0.0);
  const RowWeights weights{c};
  T top[CHUNK], total[CHUNK];
  double weight[CHUNK], loss[CHUNK];
  for (int64_t first = 0; first < n; first += CHUNK) {
    const int64_t m = std::min(CHUNK, n - first);
    std::copy(S.row(0) + first, S.row(0) + first + m, top);
    std::fill(total, total + m, T(0));
    for (int64_t i = 0; i < m; ++i) weight[i] = weights[first + i];
    for (int64_t k = 1; k < K; ++k)
      for (int64_t i = 0; i < m; ++i) top[i] = std::max(top[i], S(k, first + i));
    for (int64_t i = 0; i < m; ++i) loss[i] = double(top[i] - S(codes[first + i], first + i));
    for (int64_t k = 0; k < K; ++k) {
      T* p = S.row(k) + first;
      for (int64_t i = 0; i < m; ++i) p[i] = exp_of_negative(p[i] - top[i]);
      for (int64_t i = 0; i < m; ++i) total[i] += p[i];
    }
    for (int64_t i = 0; i < m; ++i) loss[i] = weight[i] * (loss[i] + log_of(double(total[i])));
    for (int64_t i = 0; i < m; ++i) total[i] = T(1) / total[i];
    sums[0] += lane_sum<double>(m, [&](int64_t i) { return loss[i]; });
    for (int64_t k = 0; k < K; ++k) {
      T* p = S.row(k) + first;
      for (int64_t i = 0; i < m; ++i) p[i] *= total[i];
      sums[1 + k] += lane_sum<double>(m, [&](int64_t i) { return weight[i] * double(p[i]); });
      sums[1 + K + k] += lane_sum<double>(m, [&](int64_t i) { return weight[i] * double(p[i]) * (1.0 - double(p[i])); });
    }
  }
}

// P ← c(p − e_y), in place: derivatives of the losses in the scores. That of the own class is less the sum of the others:
// p − 1 of a row that is as good as decided would have no digit of it.
template <class T> static void residuals(Matrix<T> P, Vector<const int32_t> codes, Vector<const double> c) {
  const int64_t K = P.shape[0], n = P.shape[1];
  require_classes(codes, c, K, n);
  const RowWeights weights{c};
  std::vector<T> others(n);
  for (int64_t i = 0; i < n; ++i) P(codes[i], i) = T(0);
  for (int64_t k = 0; k < K; ++k)
    for (int64_t i = 0; i < n; ++i) others[i] += P(k, i) *= T(weights[i]);
  for (int64_t i = 0; i < n; ++i) P(codes[i], i) = -others[i];
}

// P ← p + (diag p − ppᵀ)ds brought back to the simplex, in place: what a step foretells. Returns Σ c p log p of it.
static double foretold(Matrix<double> P, Matrix<const double> dS, Vector<const double> c) {
  const int64_t K = P.shape[0], n = P.shape[1];
  require(dS.shape[0] == K && dS.shape[1] == n && (c.shape[0] == n || c.shape[0] == 1), "P, dS and c must have a number for each row");
  const RowWeights weights{c};
  double mean[CHUNK], total[CHUNK], entropy = 0;
  for (int64_t first = 0; first < n; first += CHUNK) {
    const int64_t m = std::min(CHUNK, n - first);
    std::fill(mean, mean + m, 0.0);
    std::fill(total, total + m, 0.0);
    for (int64_t k = 0; k < K; ++k)
      for (int64_t i = 0; i < m; ++i) mean[i] = fused(P(k, first + i), dS(k, first + i), mean[i]);
    for (int64_t k = 0; k < K; ++k)
      for (int64_t i = 0; i < m; ++i) {
        double& p = P(k, first + i);
        p = std::max(0.0, p * (1.0 + dS(k, first + i) - mean[i]));
        total[i] += p;
      }
    for (int64_t i = 0; i < m; ++i) total[i] = 1.0 / total[i];
    for (int64_t k = 0; k < K; ++k) {
      double* p = P.row(k) + first;
      for (int64_t i = 0; i < m; ++i) p[i] *= total[i];
      entropy += lane_sum<double>(m, [&](int64_t i) { return weights[first + i] * p[i] * log_of(std::max(p[i], 1e-300)); });
    }
  }
  return entropy;
}

// (diag d − ddᵀ/s)ₖₗ of each row with s = Σ d, k ≥ l, a row of V for each pair
static void pair_weights(Matrix<const double> d, Matrix<double> V) {
  const int64_t K = d.shape[0], n = d.shape[1];
  require(V.shape[0] == K * (K + 1) / 2 && V.shape[1] == n, "V must have a row for each pair of classes");
  double inverse[CHUNK], rest[CHUNK];
  for (int64_t first = 0; first < n; first += CHUNK) {
    const int64_t m = std::min(CHUNK, n - first);
    std::fill(inverse, inverse + m, 0.0);
    for (int64_t k = 0; k < K; ++k)
      for (int64_t i = 0; i < m; ++i) inverse[i] += d(k, first + i);
    for (int64_t i = 0; i < m; ++i) inverse[i] = inverse[i] > 0.0 ? 1.0 / inverse[i] : 0.0;
    for (int64_t k = 0; k < K; ++k) {
      double* row = V.row(k * (k + 1) / 2) + first;
      std::fill(rest, rest + m, 0.0);
      for (int64_t h = 0; h < K; ++h)  // d(s − d), not ds − d²: a row that is nearly decided counts a little
        for (int64_t i = 0; i < m && h != k; ++i) rest[i] += d(h, first + i);
      for (int64_t h = 0; h < k; ++h)
        for (int64_t i = 0; i < m; ++i) row[h * n + i] = -d(k, first + i) * d(h, first + i) * inverse[i];
      for (int64_t i = 0; i < m; ++i) row[k * n + i] = d(k, first + i) * rest[i] * inverse[i];
    }
  }
}

// x̃ⱼx̃ₕ of each row, j ≥ h; x̃ ends with a one where Q has room for it
template <class T> static void feature_pairs(Matrix<const T> X, Matrix<double> Q) {
  const int64_t d = X.shape[1], pairs = d * (d + 1) / 2;
  const bool free = Q.shape[1] == pairs + d + 1;
  require(Q.shape[0] == X.shape[0] && (free || Q.shape[1] == pairs), "Q must have a column for each pair of features");
  for (int64_t i = 0; i < X.shape[0]; ++i) {
    const T* x = X.row(i);
    double* q = Q.row(i);
    for (int64_t j = 0; j < d; q += ++j)
      for (int64_t h = 0; h <= j; ++h) q[h] = double(x[j]) * double(x[h]);
    for (int64_t h = 0; free && h < d; ++h) q[h] = double(x[h]);
    if (free) q[d] = 1.0;
  }
}

// H, (KD, KD), from a row of G for each pair of classes and a column for each pair of features
static void spread_pairs(Matrix<const double> G, Matrix<double> H, int64_t K) {
  const int64_t D = K > 0 ? H.shape[0] / K : 0;
  require(K > 0 && H.shape[0] == K * D && H.shape[1] == K * D, "H must be square, with as many rows for each class");
  require(G.shape[0] == K * (K + 1) / 2 && G.shape[1] == D * (D + 1) / 2, "G must have a number for each pair of both");
  for (int64_t k = 0, pair = 0; k < K; ++k)
    for (int64_t h = 0; h <= k; ++h, ++pair) {
      const double* g = G.row(pair);
      for (int64_t j = 0; j < D; ++j)
        for (int64_t m = 0; m <= j; ++m, ++g)
          H(k * D + j, h * D + m) = H(k * D + m, h * D + j) = H(h * D + j, k * D + m) = H(h * D + m, k * D + j) = *g;
    }
}

// Weights of sparse rows are feature-major, (d, K) with K filled up to a multiple of four.
template <class T> static void require_wide(const CSR<T>& rows, int64_t K, int64_t n, int64_t d, int64_t width) {
  require(n == rows.n && d == rows.d && width % 4 == 0 && width >= K, "weights must be (d, K), K filled up to a multiple of four");
}

// sₖᵢ ← ⟨wₖ, xᵢ⟩ + bₖ
template <class T> static void wide_scores(CSR<T> rows, Matrix<double> W, Vector<const double> b, Matrix<double> S) {
  const int64_t K = S.shape[0], width = W.shape[1];
  require_wide(rows, K, S.shape[1], W.shape[0], width);
  require(b.shape[0] == width, "b must have a number for each column of W");
  std::vector<double> s(width);
  for (int64_t i = 0; i < rows.n; ++i) {
    rows.scores(i, W, s.data());
    for (int64_t k = 0; k < K; ++k) S(k, i) = s[k] + b[k];
  }
}

// V ← V + Σ xᵢrᵢᵀ
template <class T> static void add_wide(CSR<T> rows, Matrix<const double> R, Matrix<double> V) {
  const int64_t K = R.shape[0], width = V.shape[1];
  require_wide(rows, K, R.shape[1], V.shape[0], width);
  std::vector<double> r(width, 0.0);
  for (int64_t i = 0; i < rows.n; ++i) {
    for (int64_t k = 0; k < K; ++k) r[k] = R(k, i);
    rows.each(i, [&](int64_t j, T x) { accumulate(r.data(), double(x), V.row(j), width); });
  }
}

void bind_softmax(nb::module_ m) {
  def(m, "shares", shares<double>, "Scores to probabilities, and sums of losses, probabilities and their doubt.");
  def(m, "shares", shares<float>);
  def(m, "residuals", residuals<double>, "Probabilities to derivatives of the losses in the scores.");
  def(m, "residuals", residuals<float>);
  def(m, "foretold", foretold, "The probabilities that a Newton step foretells, and the sum of their entropy.");
  def(m, "pair_weights", pair_weights, "What each pair of classes weighs products of features by.");
  def(m, "feature_pairs", feature_pairs<double>, "The products of features of each row.");
  def(m, "feature_pairs", feature_pairs<float>);
  def(m, "spread_pairs", spread_pairs, "The Hessian from sums for pairs of classes and of features.");
  def(m, "wide_scores", wide_scores<double>, "⟨wₖ, xᵢ⟩ + bₖ of sparse rows.");
  def(m, "wide_scores", wide_scores<float>);
  def(m, "add_wide", add_wide<double>, "V + Σ xᵢrᵢᵀ of sparse rows.");
  def(m, "add_wide", add_wide<float>);
}
}  // namespace linsep
