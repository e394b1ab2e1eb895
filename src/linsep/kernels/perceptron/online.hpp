// What one visit to a row asks of the weights, for all kernels of the perceptron family.
#pragma once
#include <nanobind/stl/tuple.h>

#include "rows.hpp"
#include "rules.hpp"

namespace linsep {
// Places in the tally: see linsep.train.online.tally.
enum Place { SEEN, UPDATES, MISTAKES, LOSS, RUN, BEST, ROW, STEPS, TALLY };
enum Keep { LAST, AVERAGE, POCKET };

template <class T> using Planes = std::tuple<Matrix<T>, Vector<double>, double>;  // W, b and the constant's square
using Presented = std::tuple<Vector<const int32_t>, Vector<const int64_t>, Vector<const double>>;  // classes, order, shares

// The row presented at a place of the order.
template <class I> int64_t row_at(Vector<I> order, int64_t p, int64_t n) {
  if (uint64_t(order[p]) >= uint64_t(n)) throw std::invalid_argument("order must hold numbers of rows");
  return order[p];
}

// A row of an order, asked for ahead of time.
template <class Rows> inline void bring_ahead(const Rows& rows, Vector<const int64_t> order, int64_t p) {
  constexpr int64_t AHEAD = 6;  // visits, in which a row arrives from memory
  if (p + AHEAD < order.shape[0] && uint64_t(order[p + AHEAD]) < uint64_t(rows.n)) rows.bring(order[p + AHEAD]);
}

inline int64_t class_of(Vector<const int32_t> codes, int64_t i, int64_t classes) {
  if (uint64_t(int64_t(codes[i])) >= uint64_t(classes)) throw std::invalid_argument("codes must be numbers of classes");
  return codes[i];
}

inline double share_of(Vector<const double> shares, int64_t p) { return shares.shape[0] > 0 ? shares[p] : 1.0; }

struct Asked {
  int64_t corrections, mistakes;
  double loss;
};

// a ← what each class must receive of row i of class c in a whole step, given its scores s.
//
// One score is a question of two classes; several are Kesler's construct, the own class against each rival. `pace`
// says by how much of a step the weights move while the rivals are gone through: 1 online, or the share of a last
// presentation; 0 in a batch.
template <class Rule, class Rows>
Asked correct(Rule rule, const Rows& rows, int64_t i, int64_t c, double bias, double pace, int64_t classes, double* s, double* a) {
  for (int64_t k = 0; k < classes; ++k) a[k] = 0;
  int64_t rival = -1;
  double y = c == 1 ? 1 : -1, z = y * s[0];
  if (classes > 1) {
    for (int64_t k = 0; k < classes; ++k)
      if (k != c && (rival < 0 || s[k] > s[rival])) rival = k;
    y = c < rival ? 1 : -1;  // of equal scores the first wins
    z = s[c] - s[rival];
  }
  const double cost = rule.loss(z);
  if (!rule.wrong(z, y)) return {0, 0, cost};
  const int64_t mistake = !(z > 0);
  if (rival < 0) {
    a[0] = y * rule.size(z, rows.square(i) + bias);
    return {1, mistake, cost};
  }
  const double square = pace > 0 ? rows.square(i) + bias : 0;
  return {rule.spread(s, c, classes, square, pace, a), mistake, cost};
}

// wₖ ← wₖ + aₖ(x, 1) for every class
template <class Rows, class W>
void move(const Rows& rows, int64_t i, const double* a, double bias, Matrix<W> w, Vector<double> b) {
  rows.add_to(i, a, b.shape[0], w);
  for (int64_t k = 0; k < b.shape[0]; ++k) b[k] += a[k] * bias;
}

// What all these kernels read besides the rows must be as long as they are.
template <class Rows, class T> void require_agreement(const Rows& rows, Vector<const int32_t> codes, const Planes<T>& planes) {
  require(codes.shape[0] >= rows.n, "codes must have the class of each row");
  const auto& [W, b, bias] = planes;
  require(b.shape[0] > 0 && rows.holds(W, b.shape[0]), "W must have weights for each class and feature");
}
}  // namespace linsep
