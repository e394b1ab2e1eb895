// Error back-propagation through two layers of sigmoids: passes of descent.
//
//   h = σ(Vx + c),   p = σ(⟨u, h⟩ + a),   loss −log p of the right class
//   ∂/∂(⟨u, h⟩ + a) = p − t,   ∂/∂(Vx + c) = (p − t) u ∘ h ∘ (1 − h)
#include <nanobind/stl/tuple.h>

#include <vector>

#include "arrays.hpp"
#include "exponentials.hpp"
#include "vectors.hpp"

namespace linsep {
using Net = std::tuple<Matrix<double>, Vector<double>, Matrix<double>, Vector<double>>;  // V (hidden, d), c, u (1, hidden), a

static double sigmoid(double z) {
  const double e = exp_of_negative(-std::fabs(z));
  return (z >= 0 ? 1 : e) / (1 + e);
}

// log(1 + eᶻ) for the logit against the right class
static double loss_of(double z, double t) {
  const double against = t == 0 ? z : -z;
  return std::max(against, 0.0) + log_of_one_plus(exp_of_negative(-std::fabs(z)));
}

static void require_net(Matrix<const double> X, int64_t d, int64_t n, Vector<const double> t, Vector<const double> share, const Net& net) {
  const auto& [V, c, u, a] = net;
  const int64_t hidden = V.shape[0];
  require(V.shape[1] == d && c.shape[0] == hidden && u.shape[0] == 1 && u.shape[1] == hidden && a.shape[0] == 1, "the weights must be of one net");
  require(X.size() == n * d && t.shape[0] == n && share.shape[0] == n, "there must be a target and a share of each row");
}

// h ← σ(Vx + c) and z ← ⟨u, h⟩ + a of all rows; `columns` are the features.
static void forward(Matrix<const double> columns, const Net& net, double* h, double* z) {
  const auto& [V, c, u, a] = net;
  const int64_t n = columns.shape[1];
  std::fill(z, z + n, a[0]);
  for (int64_t k = 0; k < c.shape[0]; ++k) {
    double* hk = h + k * n;
    std::fill(hk, hk + n, c[k]);
    for (int64_t j = 0; j < columns.shape[0]; ++j) accumulate(columns.row(j), V(k, j), hk, n);
    for (int64_t i = 0; i < n; ++i) hk[i] = sigmoid(hk[i]);
    accumulate(hk, u(0, k), z, n);
  }
}

// A step along the mean slope in each pass; returns how many were made. The rows are seen once for each pass: what a
// step has reached is told by the next look.
static int64_t batch_passes(Matrix<const double> columns, Vector<const double> t, Vector<const double> share, double eta, Net net,
                            Vector<double> curve, double tol) {
  const auto [V, c, u, a] = net;
  const int64_t n = columns.shape[1], d = columns.shape[0], hidden = c.shape[0], most = curve.shape[0];
  require_net(columns, d, n, t, share, net);
  std::vector<double> memory(size_t((hidden + 2) * n));
  double *h = memory.data(), *z = h + hidden * n, *e = z + n;
  for (int64_t made = 0; made <= most; ++made) {
    forward(columns, net, h, z);
    if (made > 0) {
      curve[made - 1] = lane_sum<double>(n, [&](int64_t i) { return share[i] * loss_of(z[i], t[i]); }) / double(n);
      if (curve[made - 1] < tol) return made;
    }
    if (made == most) break;
    for (int64_t i = 0; i < n; ++i) z[i] = share[i] * (sigmoid(z[i]) - t[i]) / double(n);
    const double total = lane_sum<double>(n, [&](int64_t i) { return z[i]; });
    for (int64_t k = 0; k < hidden; ++k) {
      const double* hk = h + k * n;
      for (int64_t i = 0; i < n; ++i) e[i] = z[i] * u(0, k) * hk[i] * (1 - hk[i]);
      for (int64_t j = 0; j < d; ++j) V(k, j) -= eta * inner(columns.row(j), e, n);
      c[k] -= eta * lane_sum<double>(n, [&](int64_t i) { return e[i]; });
      u(0, k) -= eta * inner(hk, z, n);
    }
    a[0] -= eta * total;
  }
  return most;
}

// h ← σ(Vx + c) of one row; returns ⟨u, h⟩ + a.
static double score(const double* x, const Net& net, double* h) {
  const auto& [V, c, u, a] = net;
  for (int64_t k = 0; k < c.shape[0]; ++k) h[k] = sigmoid(c[k] + inner(x, V.row(k), V.shape[1]));
  return a[0] + inner(h, u.data, c.shape[0]);
}

// A step for each row of each pass in its order; returns how many passes were made.
static int64_t online_passes(Matrix<const double> X, Vector<const double> t, Vector<const double> share, double eta, Net net,
                             Matrix<const int64_t> order, Vector<double> curve, double tol) {
  const auto [V, c, u, a] = net;
  const int64_t n = X.shape[0], d = X.shape[1], hidden = c.shape[0];
  require_net(X, d, n, t, share, net);
  require(order.shape[0] >= curve.shape[0] && order.shape[1] == n, "there must be an order of each pass");
  for (int64_t p = 0; p < order.size(); ++p) require(0 <= order[p] && order[p] < n, "order must hold numbers of rows");
  std::vector<double> memory(static_cast<size_t>(hidden));
  double* h = memory.data();
  for (int64_t made = 0; made < curve.shape[0]; ++made) {
    for (int64_t m = 0; m < n; ++m) {
      const int64_t i = order(made, m);
      const double top = eta * share[i] * (sigmoid(score(X.row(i), net, h)) - t[i]);
      for (int64_t k = 0; k < hidden; ++k) {
        const double below = top * u(0, k) * h[k] * (1 - h[k]);
        accumulate(X.row(i), -below, V.row(k), d);
        c[k] -= below;
        u(0, k) -= top * h[k];
      }
      a[0] -= top;
    }
    double loss = 0;
    for (int64_t i = 0; i < n; ++i) loss += share[i] * loss_of(score(X.row(i), net, h), t[i]);
    curve[made] = loss / double(n);
    if (curve[made] < tol) return made + 1;
  }
  return curve.shape[0];
}

void bind_backpropagation(nb::module_ m) {
  def(m, "batch_passes", batch_passes, "Passes with a step each; how many were made.");
  def(m, "online_passes", online_passes, "Passes with a step for each row; how many were made.");
}
}  // namespace linsep
