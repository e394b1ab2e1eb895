// One pass of a correction rule over rows, one after the other or some at a time.
//
// Weights are changed in place and counts are kept in `tally`, so that a run can stop after any block of rows, or
// after any number of corrections, and go on from there.
#include "online.hpp"

#include <limits>
#include <vector>

#include "screens.hpp"

namespace linsep {
using Kept = std::tuple<int64_t, Matrix<double>, Vector<double>, Vector<double>>;  // kind, sums, those of b, longest-lived
using Shown = std::tuple<Vector<double>, Vector<double>>;  // scores and steps of the last row corrected

// longest ← (W, b), row after row
template <class T> static void copy_into(Vector<double> longest, Matrix<T> W, Vector<double> b) {
  std::copy(W.data, W.data + W.size(), longest.data);
  std::copy(b.data, b.data + b.size(), longest.data + W.size());
}

template <class Rows, class T>
static void require_places(const Rows& rows, Presented presented, const Planes<T>& planes, Vector<double> tally, Shown shown) {
  const auto& [codes, order, scale] = presented;
  const int64_t classes = std::get<1>(planes).shape[0];
  require_agreement(rows, codes, planes);
  require(scale.shape[0] == 0 || scale.shape[0] == order.shape[0], "shares must be as many as rows in order, or none");
  require(tally.shape[0] == TALLY, "tally must have eight places");
  require(std::get<0>(shown).shape[0] == classes && std::get<1>(shown).shape[0] == classes, "scores and steps must be one for each class");
}

template <class T>
static void require_room(int64_t kind, Matrix<T> W, Vector<double> b, bool sums, Vector<double> bias_sums, Vector<double> longest) {
  require(kind != AVERAGE || (sums && bias_sums.shape[0] == b.shape[0]), "sums must be as many as weights");
  require(kind != POCKET || longest.shape[0] == W.size() + b.shape[0], "longest must have room for weights and intercepts");
}

// Correct w after each row of order[start:]; stop after `limit` corrections. Two classes. A row whose screen tells that
// it is right is not read. Returns where it stopped.
//   z = y(⟨w, x⟩ + b);  where wrong: w ← w + τyx, b ← b + τy·bias; for the average u ← u + t·τyx
template <class Rule, class Rows, class T = typename Rows::Real>
static int64_t present(Rule rule, Rows rows, Int8Screen screen, Presented presented, int64_t start, int64_t limit, Planes<T> planes,
                       Kept kept, Vector<double> tally, Shown shown) {
  const auto [codes, order, scale] = presented;
  const auto [W, b, bias] = planes;
  const auto [keep, sums, bias_sums, longest] = kept;
  require_places(rows, presented, planes, tally, shown);
  require_room<T>(keep, W, b, sums.size() == W.size(), bias_sums, longest);
  require(b.shape[0] == 1 && start >= 0, "there must be one hyperplane, and a place to start at");
  screen.require_agreement(rows.n, rows.d);
  T* w = W.data;
  WholeWeights rounded;
  screen.round(w, rows.d, rounded);
  double seen = tally[SEEN], run = tally[RUN], total = 0;
  int64_t updates = 0, mistakes = 0, p = start;
  for (bool going = true; going && p < order.shape[0]; ++p) {
    const int64_t i = row_at(order, p, rows.n);
    const double y = codes[i] == 1 ? 1 : -1;
    if (screen.Q.data == nullptr) bring_ahead(rows, order, p);
    else bring_ahead(Dense<int8_t>{screen.Q.data, rows.n, screen.Q.shape[1]}, order, p);
    if (screen.settles(rule, i, y, rounded, b[0])) {
      run += 1;
      seen += 1;
      continue;
    }
    const double score = double(rows.dot(i, w)) + b[0], z = y * score, part = share_of(scale, p);
    total += part * rule.loss(z);
    if (rule.wrong(z, y)) {
      if (keep == POCKET && run > tally[BEST]) {
        tally[BEST] = run;  // the longest-lived so far
        copy_into(longest, W, b);
      }
      const double step = part * y * rule.size(z, rows.square(i) + bias);
      rows.add(i, T(step), w);
      b[0] += step * bias;
      if (keep == AVERAGE) {
        rows.add(i, step * seen, sums.data);
        bias_sums[0] += step * seen * bias;
      }
      screen.round(w, rows.d, rounded);
      std::get<0>(shown)[0] = score;
      std::get<1>(shown)[0] = step;
      tally[ROW] = double(i);
      run = 0;
      mistakes += !(z > 0);
      going = ++updates != limit;
    } else {
      run += 1;
    }
    seen += 1;
  }
  tally[SEEN] = seen;
  tally[RUN] = run;
  tally[STEPS] += double(updates);
  tally[UPDATES] += double(updates);
  tally[MISTAKES] += double(mistakes);
  tally[LOSS] += total;
  return p;
}

// `correct` for the classes first, first + 1, ..., each against all others.
template <class Rule, class Rows>
static Asked correct_each(Rule rule, const Rows& rows, int64_t i, int64_t own, double bias, Vector<double> s, Vector<double> a) {
  Asked asked = {0, 0, 0};
  for (int64_t k = 0; k < s.shape[0]; ++k) {
    const double y = k == own ? 1 : -1, z = y * s[k];
    a[k] = 0;
    if (!rule.wrong(z, y)) continue;
    a[k] = y * rule.size(z, rows.square(i) + bias);
    asked.corrections += 1;
    asked.mistakes += !(z > 0);
    asked.loss += rule.loss(z);
  }
  return asked;
}

// `present` for several classes; one visit to a row serves them all. With first < 0 they are compared by Kesler's
// construct, else each is against all others.
template <class Rule, class Rows, class T = typename Rows::Real>
static int64_t present_classes(Rule rule, int64_t first, Rows rows, Presented presented, int64_t start,
                               int64_t limit, Planes<T> planes, Kept kept, Vector<double> tally, Shown shown) {
  const auto [codes, order, scale] = presented;
  const auto [W, b, bias] = planes;
  const auto [keep, sums, bias_sums, longest] = kept;
  const auto [s, a] = shown;
  const int64_t classes = b.shape[0];
  require_places(rows, presented, planes, tally, shown);
  require_room<T>(keep, W, b, sums.shape[0] == W.shape[0] && sums.shape[1] == W.shape[1], bias_sums, longest);
  require(start >= 0 && (first >= 0 || classes > 1), "there must be rivals, and a place to start at");
  std::vector<double> wide(size_t(Rows::sparse ? W.shape[1] : classes)), late(wide.size());
  int64_t updates = 0, p = start;
  for (bool going = true; going && p < order.shape[0]; ++p) {
    const int64_t i = row_at(order, p, rows.n), c = first < 0 ? class_of(codes, i, classes) : codes[i] - first;
    bring_ahead(rows, order, p);
    rows.scores(i, W, wide.data());
    for (int64_t k = 0; k < classes; ++k) s[k] = wide[size_t(k)] + b[k];  // sₖ = ⟨wₖ, x⟩ + bₖ
    const double part = share_of(scale, p);
    const Asked asked = first < 0 ? correct(rule, rows, i, c, bias, part, classes, s.data, a.data) : correct_each(rule, rows, i, c, bias, s, a);
    tally[LOSS] += part * asked.loss;
    tally[MISTAKES] += double(asked.mistakes);
    if (asked.corrections == 0) {
      tally[RUN] += 1;
      tally[SEEN] += 1;
      continue;
    }
    if (keep == POCKET && tally[RUN] > tally[BEST]) {
      tally[BEST] = tally[RUN];
      copy_into(longest, W, b);
    }
    for (int64_t k = 0; k < classes; ++k) {
      s[k] = wide[size_t(k)] + b[k];
      a[k] *= part;
    }
    move(rows, i, a.data, bias, W, b);
    if (keep == AVERAGE) {
      for (int64_t k = 0; k < classes; ++k) late[size_t(k)] = a[k] * tally[SEEN];
      move(rows, i, late.data(), bias, sums, bias_sums);  // uₖ ← uₖ + t·aₖx
    }
    tally[ROW] = double(i);
    tally[RUN] = 0;
    tally[UPDATES] += double(asked.corrections);
    tally[SEEN] += 1;
    going = ++updates != limit;
  }
  tally[STEPS] += double(updates);
  return p;
}

// coefₖⱼ ← wⱼₖ − uⱼₖ/T for some features j of sparse weights; without sums, wⱼₖ itself.
template <class T>
static void sparse_means(Matrix<const T> W, Matrix<const double> U, double seen, int64_t start, int64_t stop, Matrix<T> coef) {
  require(coef.shape[1] == W.shape[0] && coef.shape[0] <= W.shape[1], "coef must have a weight for each class and feature");
  require(0 <= start && stop <= W.shape[0], "there are no such features");
  const bool sums = U.shape[0] > 0;
  require(!sums || (U.shape[0] == W.shape[0] && U.shape[1] == W.shape[1]), "U must have a sum for each weight");
  for (int64_t j = start; j < stop; ++j)
    for (int64_t k = 0; k < coef.shape[0]; ++k) coef(k, j) = sums ? T(double(W(j, k)) - U(j, k) / seen) : W(j, k);
}

// A[m] ← what row order[start + m] asks for, all rows seen by the same weights. Returns the total weight of the rows.
template <class Rule, class Rows, class T = typename Rows::Real>
static double corrections(Rule rule, Rows rows, Vector<const int32_t> codes, Vector<const double> weights, Vector<const int64_t> order,
                          int64_t start, int64_t stop, Planes<T> planes, Matrix<double> A, Vector<double> tally) {
  const auto [W, b, bias] = planes;
  const int64_t classes = b.shape[0];
  require_agreement(rows, codes, planes);
  require(weights.shape[0] == 0 || weights.shape[0] >= rows.n, "weights must be as many as rows, or none");
  require(0 <= start && start <= stop && stop <= order.shape[0], "there are no such places in order");
  require(A.shape[0] >= stop - start && A.shape[1] == classes && tally.shape[0] == TALLY, "A must have a place for each row and class");
  std::vector<double> s(size_t(Rows::sparse ? W.shape[1] : classes));
  double total = 0;
  for (int64_t m = 0; m < stop - start; ++m) {
    const int64_t i = row_at(order, start + m, rows.n), c = classes > 1 ? class_of(codes, i, classes) : codes[i];
    bring_ahead(rows, order, start + m);
    rows.scores(i, W, s.data());
    for (int64_t k = 0; k < classes; ++k) s[size_t(k)] += b[k];
    const Asked asked = correct(rule, rows, i, c, bias, 0.0, classes, s.data(), A.row(m));
    const double weight = share_of(weights, i);
    for (int64_t k = 0; weight != 1 && k < classes; ++k) A(m, k) *= weight;
    total += weight;
    tally[UPDATES] += weight > 0 ? double(asked.corrections) : 0;
    tally[MISTAKES] += weight > 0 ? double(asked.mistakes) : 0;
    tally[LOSS] += weight * asked.loss;
  }
  return total;
}

// wₖ ← wₖ + factor Σₘ Aₘₖ xₘ, and the intercepts likewise.
template <class Rows, class W>
static void apply(Rows rows, Vector<const int64_t> order, int64_t start, int64_t stop, Matrix<double> A, double factor, Planes<W> planes) {
  const auto [weights, b, bias] = planes;
  require(b.shape[0] > 0 && rows.holds(weights, b.shape[0]), "W must have weights for each class and feature");
  require(0 <= start && start <= stop && stop <= order.shape[0], "there are no such places in order");
  require(A.shape[0] >= stop - start && A.shape[1] == b.shape[0], "A must have a place for each row and class");
  std::vector<double> a(size_t(b.shape[0]));
  for (int64_t m = 0; m < stop - start; ++m) {
    for (int64_t k = 0; k < b.shape[0]; ++k) a[size_t(k)] = factor * A(m, k);
    move(rows, row_at(order, start + m, rows.n), a.data(), bias, weights, b);
  }
}

// Correct by the sum (or mean) of each `batch` rows of order[start:]; stop after `limit` steps. Returns where it stopped.
template <class Rule, class Rows, class T = typename Rows::Real>
static int64_t minibatches(Rule rule, Rows rows, Vector<const int32_t> codes, Vector<const double> weights, Vector<const int64_t> order,
                           int64_t start, int64_t limit, int64_t batch, bool mean, Planes<T> planes, Kept kept, Matrix<double> A,
                           Vector<double> tally) {
  const auto [W, b, bias] = planes;
  const auto [keep, sums, bias_sums, longest] = kept;
  require(batch > 0 && start >= 0, "there must be rows in a batch, and a place to start at");
  require(tally.shape[0] == TALLY, "tally must have eight places");
  require_room<T>(keep == POCKET ? int64_t(LAST) : keep, W, b, sums.size() == W.size(), bias_sums, longest);
  int64_t steps = 0;
  while (start < order.shape[0] && steps < limit) {
    const int64_t stop = std::min(start + batch, order.shape[0]);
    const double before = tally[UPDATES];
    const double total = corrections(rule, rows, codes, weights, order, start, stop, planes, A, tally);
    if (tally[UPDATES] > before) {
      const double factor = mean ? 1 / total : 1;
      apply(rows, order, start, stop, A, factor, planes);
      if (keep == AVERAGE) apply(rows, order, start, stop, A, factor * tally[SEEN], Planes<double>{sums, bias_sums, bias});
      tally[ROW] = -1;  // no single row made the step
      ++steps;
    }
    tally[SEEN] += 1;
    start = stop;
  }
  tally[STEPS] += double(steps);
  return start;
}

// How many rows do not lie strictly on their own side, each counted with its weight. With first ≥ 0 the hyperplanes
// stand for the classes first, first + 1, ..., each against all others, and a row is counted once for each that has it
// on the wrong side; with first < 0 they are one hyperplane for two classes, or Kesler's for all.
template <class Rows, class T = typename Rows::Real>
static double misplaced(Rows rows, Vector<const int32_t> codes, Vector<const double> weights, int64_t first, Matrix<T> W, Vector<double> b) {
  const int64_t classes = b.shape[0];
  require_agreement(rows, codes, Planes<T>{W, b, 0});
  require(weights.shape[0] == 0 || weights.shape[0] >= rows.n, "weights must be as many as rows, or none");
  std::vector<double> s(size_t(Rows::sparse ? W.shape[1] : classes));
  double count = 0;
  for (int64_t i = 0; i < rows.n; ++i) {
    rows.scores(i, W, s.data());
    for (int64_t k = 0; k < classes; ++k) s[size_t(k)] += b[k];
    int64_t bad = 0;
    if (first >= 0 || classes == 1) {
      const int64_t own = first >= 0 ? codes[i] - first : codes[i] - 1;
      for (int64_t k = 0; k < classes; ++k) bad += !((k == own ? 1 : -1) * s[size_t(k)] > 0);
    } else {
      const int64_t c = class_of(codes, i, classes);
      for (int64_t k = 0; k < classes; ++k) bad |= k != c && !(s[size_t(c)] > s[size_t(k)]);
    }
    if (bad > 0) count += double(bad) * share_of(weights, i);
  }
  return count;
}

template <class Rule, class Rows> static void bind_rule(nb::module_& m) {
  def(m, "present", present<Rule, Rows>, "A pass row by row, two classes; where it stopped.");
  def(m, "present_classes", present_classes<Rule, Rows>, "A pass row by row, several classes; where it stopped.");
  def(m, "corrections", corrections<Rule, Rows>, "What each row asks for; the total weight.");
  def(m, "minibatches", minibatches<Rule, Rows>, "A pass by some rows at a time; where it stopped.");
}

void bind_online(nb::module_ m) {
  each_layout([&m](auto rows) {
    using Rows = decltype(rows);
    bind_rule<Rosenblatt, Rows>(m);
    bind_rule<PassiveAggressive, Rows>(m);
    def(m, "apply", apply<Rows, typename Rows::Real>, "Moves weights by what rows ask for.");
    def(m, "misplaced", misplaced<Rows>, "The weight of rows on the wrong side.");
  });
  def(m, "sparse_means", sparse_means<double>, "Averages of sparse weights, by class.");
  def(m, "sparse_means", sparse_means<float>);
}
}  // namespace linsep
