// A line that turns about the origin past vectors of the plane: what its cheapest position costs.
#include <algorithm>
#include <cmath>
#include <vector>

#include "arrays.hpp"

namespace linsep {
constexpr double UNIT = 1.0 / 9007199254740992.0;  // 2^-53
static const double SMALLEST = std::ldexp(1.0, -1060);
constexpr int64_t UNSURE = -1;

// Vectors (n, 2) of float64, and how far each of their numbers may be off; `sharp` where they are not.
struct Vectors {
  const double *v, *e;
  bool sharp;

  // The sign of the determinant of vectors j and k, times `sides`; 2 where floats cannot tell.
  int turn(int64_t j, int64_t k, double sides) const {
    const double a = v[2 * j], b = v[2 * j + 1], c = v[2 * k], d = v[2 * k + 1];
    const double *p = e + 2 * j, *q = e + 2 * k, first = a * d, second = b * c, turn = (first - second) * sides;
    double error = 4 * UNIT * (std::abs(first) + std::abs(second)) + SMALLEST;
    error += 1.01 * (std::abs(a) * q[1] + std::abs(d) * p[0]);
    error += 1.01 * (std::abs(b) * q[0] + std::abs(c) * p[1]);
    error += p[0] * q[1] + p[1] * q[0];
    if (sharp) return turn > 0 ? 1 : turn < 0 ? -1 : turn == 0 ? 0 : 2;
    return turn > error ? 1 : 2;
  }
};

struct Turning {
  std::vector<double> angle, side;
  std::vector<int64_t> kept;
};

// The least cost of a turn past the vectors but those two; UNSURE where floats cannot tell.
static int64_t least_turn(const Vectors& V, int64_t n, int64_t without, int64_t nor, const int64_t* plus, const int64_t* minus, Turning& t) {
  t.kept.clear();
  int64_t cost = 0, total = 0;
  for (int64_t j = 0; j < n; ++j) {
    if (j == without || j == nor) continue;
    const double x = V.v[2 * j], y = V.v[2 * j + 1];
    if (!V.sharp && !(std::abs(y) > V.e[2 * j + 1])) return UNSURE;
    if (x == 0 && y == 0) return UNSURE;  // a third point on the line that turns
    const double h = y > 0 || (y == 0 && x > 0) ? 1.0 : -1.0;
    t.side[j] = h;
    t.angle[j] = std::atan2(h * y, h * x);
    if (std::isnan(t.angle[j])) return UNSURE;
    t.kept.push_back(j);
    cost += h > 0 ? minus[j] : plus[j];
    total += plus[j] + minus[j];
  }
  std::sort(t.kept.begin(), t.kept.end(), [&](int64_t a, int64_t b) { return t.angle[a] < t.angle[b] || (t.angle[a] == t.angle[b] && a < b); });
  int64_t best = std::min(cost, total - cost);
  for (size_t m = 0; m < t.kept.size(); ++m) {
    const int64_t j = t.kept[m];
    cost += t.side[j] > 0 ? plus[j] - minus[j] : minus[j] - plus[j];
    if (m + 1 < t.kept.size()) {
      const int64_t k = t.kept[m + 1];
      const int turn = V.turn(j, k, t.side[j] * t.side[k]);
      if (turn < 0 || turn == 2) return UNSURE;
      if (turn == 0) continue;  // one direction: no line between them
    }
    best = std::min({best, cost, total - cost});
  }
  return best;
}

// costsₖ ← the least cost of a turn past the vectors V[k]; vectors i and second[k] lie on the line that turns.
static void least_turns(Array<const double, 3> V, Array<const double, 3> E, bool sharp, int64_t i, Vector<const int64_t> second,
                        Vector<const int64_t> plus, Vector<const int64_t> minus, Vector<int64_t> costs) {
  const int64_t count = V.shape[0], n = V.shape[1];
  require(V.shape[2] == 2 && E.shape[0] == count && E.shape[1] == n && E.shape[2] == 2, "V and E must have two numbers for each vector");
  require(second.shape[0] == count && costs.shape[0] == count, "second and costs must have a number for each turn");
  require(plus.shape[0] == n && minus.shape[0] == n, "plus and minus must have a number for each vector");
  Turning room{std::vector<double>(size_t(n)), std::vector<double>(size_t(n)), {}};
  for (int64_t k = 0; k < count; ++k) {
    const Vectors vectors{V.data + 2 * n * k, E.data + 2 * n * k, sharp};
    costs[k] = least_turn(vectors, n, i, second[k], plus.data, minus.data, room);
  }
}

void bind_turns(nb::module_ m) {
  def(m, "least_turns", least_turns, "The least cost of a turn past vectors; -1 where floats cannot tell.");
}
}  // namespace linsep
