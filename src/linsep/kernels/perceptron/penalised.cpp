// The perceptron's rule with weights that a penalty draws towards zero at every row: linsep.train.online.penalised.
#include <vector>

#include "online.hpp"

namespace linsep {
constexpr double SMALLEST = 1e-9;  // a factor below it is worked into the weights

// What the l1 part takes of a weight: it moves to zero by at most what has not been taken yet (Tsuruoka et al., 2009).
static double drawn(double w, double due, double taken) {
  return w > 0 ? std::max(0.0, w - (due + taken)) : std::min(0.0, w + (due - taken));
}

// One pass; the sum of losses, each row as it was met. Weights are factor · V.
//   w ← (1 − ridge) w at every row;  w ← w + ηyx where it is a mistake;  then `drawn` where the row has an entry
template <class Rule, class Rows>
static double walk(Rule rule, Rows rows, Presented presented, Matrix<double> V, Vector<double> factors, Vector<double> b, double bias,
                   Matrix<double> taken, Vector<double> due, double ridge, double lasso, Vector<int64_t> counts) {
  const auto [codes, order, scale] = presented;
  const int64_t K = V.shape[0];
  require(codes.shape[0] >= rows.n && V.shape[1] == rows.d, "there must be a class of each row and a weight of each feature");
  require(taken.shape[0] == K && taken.shape[1] == rows.d, "taken must be as many as weights");
  require(K > 0 && factors.shape[0] == K && b.shape[0] == K && due.shape[0] == K && counts.shape[0] == 2, "there must be a factor, an intercept and a due of each class");
  require(scale.shape[0] == 0 || scale.shape[0] == order.shape[0], "shares must be as many as rows in order, or none");
  std::vector<double> s(static_cast<size_t>(K)), a(static_cast<size_t>(K));
  double factor = factors[0], total = 0;
  for (int64_t p = 0; p < order.shape[0]; ++p) {
    const int64_t i = row_at(order, p, rows.n), c = K > 1 ? class_of(codes, i, K) : codes[i];
    const double part = share_of(scale, p);
    for (int64_t k = 0; k < K; ++k) s[size_t(k)] = factor * rows.dot(i, V.row(k)) + b[k];
    const Asked asked = correct(rule, rows, i, c, bias, part, K, s.data(), a.data());
    total += part * asked.loss;
    counts[0] += asked.corrections;
    counts[1] += asked.mistakes;
    factor *= std::max(0.0, 1 - part * ridge);
    if (factor < SMALLEST) {
      for (int64_t e = 0; e < V.size(); ++e) V[e] *= factor;
      factor = 1;
    }
    for (int64_t k = 0; k < K; ++k) {
      if (asked.corrections > 0 && a[size_t(k)] != 0) {
        rows.add(i, part * a[size_t(k)] / factor, V.row(k));
        b[k] += part * a[size_t(k)] * bias;
      }
      if (!(lasso > 0)) continue;
      due[k] += part * lasso;
      rows.each(i, [&](int64_t j, double) {
        const double w = factor * V(k, j), to = drawn(w, due[k], taken(k, j));
        taken(k, j) += to - w;
        V(k, j) = to / factor;
      });
    }
  }
  for (int64_t k = 0; k < K; ++k) factors[k] = factor;
  return total;
}

void bind_penalised(nb::module_ m) {
  each_layout([&m](auto rows) {
    using Rows = decltype(rows);
    def(m, "walk", walk<Rosenblatt, Rows>, "One pass with penalised weights; the sum of losses.");
    def(m, "walk", walk<PassiveAggressive, Rows>);
  });
}
}  // namespace linsep
