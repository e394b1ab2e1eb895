// Steps of gradient descent by single rows, or by folds of a few: w ← w + η (1/B) Σ c·p(s)·(z, 1), s = ⟨w, z⟩ + b.
//
// Columns are seen through a lens, z = (x·exact − shift)·rate; sparse rows are not shifted, and `exact` holds all that
// multiplies their entries. p = −∂ℓ/∂s is what a row asks for:
//
//   planes    y·(−ℓ′(ys)) for each plane; t holds its sign y
//   softmax   t − p(s); t is one for the own class, zero for others
//   squares   t − s
#include <nanobind/stl/tuple.h>

#include "losses.hpp"
#include "rows.hpp"

namespace linsep {
using Lens = std::tuple<Vector<const double>, Vector<const double>, Vector<const double>>;  // exact, shift, rate
using Presented = std::tuple<Matrix<const double>, Vector<const double>, Vector<const int64_t>>;  // t, c or none, order
using Pace = std::tuple<Vector<const double>, Vector<const double>, int64_t>;  // η and dues of each fold; folds between decays
using Decay = std::tuple<Vector<const double>, Vector<const double>>;          // l1 and l2 of each weight
using Planes = std::tuple<Matrix<double>, Vector<double>, bool>;               // W, b, whether b is free
using Seen = std::tuple<Vector<double>, Matrix<double>, Matrix<double>, Vector<double>>;  // s, p of a fold, p of all rows or none, clock
enum Clock { FOLDS, DUE, CLOCK };

struct PlanePull {
  Loss loss;
  void operator()(const double* t, const double* s, int64_t K, double* p) const {
    with_loss(loss, [&](auto one) {
      for (int64_t k = 0; k < K; ++k) p[k] = t[k] * one.terms(t[k] * s[k]).multiplier;
    });
  }
};
struct SoftmaxPull {
  void operator()(const double* t, const double* s, int64_t K, double* p) const {
    const double top = *std::max_element(s, s + K);
    double total = 0.0;
    for (int64_t k = 0; k < K; ++k) total += p[k] = exp_of_negative(s[k] - top);
    for (int64_t k = 0; k < K; ++k) p[k] = t[k] - p[k] / total;
  }
};
struct SquarePull {
  void operator()(const double* t, const double* s, int64_t K, double* p) const {
    for (int64_t k = 0; k < K; ++k) p[k] = t[k] - s[k];
  }
};

// Rows of z: dense ones are written out in `room` when they are visited.
template <class Rows> struct View {
  Rows rows;
  const double *exact, *shift, *rate;
  double* room;

  void look(int64_t i) const {
    if constexpr (!Rows::sparse)
      for (int64_t j = 0; j < rows.d; ++j) room[j] = (double(rows.row(i)[j]) * exact[j] - shift[j]) * rate[j];
  }
  double dot(int64_t i, const double* w) const {
    if constexpr (!Rows::sparse) return inner(room, w, rows.d);
    double s = 0.0;
    rows.each(i, [&](int64_t j, auto x) { s = fused(double(x) * exact[j], w[j], s); });
    return s;
  }
  void add(int64_t i, double a, double* w) const {
    if constexpr (!Rows::sparse) return accumulate(room, a, w, rows.d);
    rows.each(i, [&](int64_t j, auto x) { w[j] = fused(a, double(x) * exact[j], w[j]); });
  }
};

// What is due of the penalty, taken implicitly, which is stable for steps of any length: w ← S(w, due·l1)/(1 + due·l2).
static void decay(const Decay& penalty, double due, Matrix<double> W) {
  const auto& [l1, l2] = penalty;
  for (int64_t k = 0; k < W.shape[0]; ++k)
    for (int64_t j = 0; j < W.shape[1]; ++j)
      W(k, j) = std::copysign(std::max(std::abs(W(k, j)) - due * l1[j], 0.0), W(k, j)) / (1.0 + due * l2[j]);
}

template <class Rows>
static void require_agreement(const Rows& rows, const Lens& lens, const Presented& given, int64_t size, const Pace& pace,
                              const Decay& penalty, const Planes& planes, const Seen& seen, int64_t room) {
  const auto& [exact, shift, rate] = lens;
  const auto& [t, c, order] = given;
  const auto& [W, b, free] = planes;
  const auto& [s, pulls, kept, clock] = seen;
  const auto& [eta, due, every] = pace;
  const int64_t d = rows.d, K = W.shape[0], folds = size > 0 ? (order.shape[0] + size - 1) / size : 0;
  require(exact.shape[0] == d && shift.shape[0] == d && rate.shape[0] == d, "the lens must have numbers for each feature");
  require(W.shape[1] == d && b.shape[0] == K && K > 0, "W must have weights for each plane and feature");
  require(t.shape[0] == rows.n && t.shape[1] == K && (c.shape[0] == 0 || c.shape[0] == rows.n), "targets must be of all rows");
  require(size > 0 && eta.shape[0] == folds && due.shape[0] == folds && every > 0, "there must be a step for each fold");
  require(std::get<0>(penalty).shape[0] == d && std::get<1>(penalty).shape[0] == d, "the penalty must have numbers for each feature");
  require(s.shape[0] == K && pulls.shape[0] == size && pulls.shape[1] == K && clock.shape[0] == CLOCK && room == d, "there must be room for a fold");
  require(kept.size() == 0 || (kept.shape[0] == rows.n && kept.shape[1] == K), "what is kept must have room for all rows");
  bool within = true;
  for (int64_t q = 0; q < order.shape[0]; ++q) within &= 0 <= order[q] && order[q] < rows.n;
  require(within, "order must hold numbers of rows");
}

// Steps over the folds of an order. W and b change; s and the pulls are left as the last fold saw them.
template <class Pull, class Rows>
static void steps(Pull pull, Rows rows, Lens lens, Presented given, int64_t size, Pace pace, Decay penalty, Planes planes, Seen seen,
                  Vector<double> room) {
  require_agreement(rows, lens, given, size, pace, penalty, planes, seen, room.shape[0]);
  const View<Rows> view{rows, std::get<0>(lens).data, std::get<1>(lens).data, std::get<2>(lens).data, room.data};
  const auto [t, c, order] = given;
  const auto [eta, due, every] = pace;
  const auto [W, b, free] = planes;
  const auto [s, pulls, kept, clock] = seen;
  const int64_t K = W.shape[0], n = order.shape[0];
  for (int64_t start = 0, fold = 0; start < n; start += size, ++fold) {
    const int64_t stop = std::min(start + size, n);
    for (int64_t q = start; q < stop; ++q) {
      const int64_t i = order[q];
      double* p = pulls.row(q - start);
      view.look(i);
      for (int64_t k = 0; k < K; ++k) s[k] = view.dot(i, W.row(k)) + b[k];
      pull(t.row(i), s.data, K, p);
      if (kept.size() > 0) std::copy(p, p + K, kept.row(i));
    }
    for (int64_t q = start; q < stop; ++q) {
      const int64_t i = order[q];
      const double step = eta[fold] / double(size) * (c.shape[0] > 0 ? c[i] : 1.0);  // a last, smaller fold counts for less
      if (size > 1) view.look(i);
      for (int64_t k = 0; k < K; ++k) {
        const double a = step * pulls(q - start, k);
        if (a == 0.0) continue;
        view.add(i, a, W.row(k));
        if (free) b[k] += a;
      }
    }
    clock[FOLDS] += 1.0;
    clock[DUE] += due[fold];
    if (clock[DUE] > 0.0 && int64_t(clock[FOLDS]) % every == 0) {
      decay(penalty, clock[DUE], W);
      clock[DUE] = 0.0;
    }
  }
}

void bind_steps(nb::module_ m) {
  each_layout([&m](auto rows) {
    using Rows = decltype(rows);
    def(m, "planes", +[](Rows rows, Loss loss, Lens lens, Presented given, int64_t size, Pace pace, Decay penalty, Planes planes, Seen seen, Vector<double> room) {
      steps(PlanePull{loss}, rows, lens, given, size, pace, penalty, planes, seen, room);
    }, "Steps for planes of two classes");
    def(m, "softmax", +[](Rows rows, Lens lens, Presented given, int64_t size, Pace pace, Decay penalty, Planes planes, Seen seen, Vector<double> room) {
      steps(SoftmaxPull{}, rows, lens, given, size, pace, penalty, planes, seen, room);
    }, "Steps for all classes at once");
    def(m, "squares", +[](Rows rows, Lens lens, Presented given, int64_t size, Pace pace, Decay penalty, Planes planes, Seen seen, Vector<double> room) {
      steps(SquarePull{}, rows, lens, given, size, pace, penalty, planes, seen, room);
    }, "Steps for numbers to predict");
  });
}
}  // namespace linsep
