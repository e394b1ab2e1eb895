// Descent on the dual of a machine in a kernel's feature space: moves inside a working set of rows.
//
//   max  Σ αᵢ − ½ Σᵢⱼ βᵢβⱼ κ(xᵢ, xⱼ),   βᵢ = yᵢαᵢ,   0 ≤ αᵢ ≤ Uᵢ,   and Σ βᵢ = 0 with an intercept
#include <algorithm>

#include "arrays.hpp"
#include "vectors.hpp"

namespace linsep {
constexpr double LEAST_BEND = 1e-12;

// A working set: its rows, what is known of them, K of each pair, and v = y − Kβ.
struct WorkingSet {
  Vector<const int64_t> rows;
  const double *y, *caps;
  double *alpha, *K, *v;

  double k(int64_t a, int64_t b) const { return K[a * rows.size() + b]; }
  // Whether β of row a may grow or fall.
  bool moves(int64_t a, bool up) const {
    const int64_t i = rows[a];
    return (y[i] > 0.0) == up ? alpha[i] < caps[i] : alpha[i] > 0.0;
  }
  double room(int64_t a, bool up) const {
    const int64_t i = rows[a];
    return (y[i] > 0.0) == up ? caps[i] - alpha[i] : alpha[i];
  }
  // β of row a changes by `step`; all the way to a bound ends there exactly.
  void move(int64_t a, double step) {
    const int64_t i = rows[a];
    const double change = y[i] * step;
    if (std::abs(step) >= room(a, step > 0.0)) alpha[i] = change > 0.0 ? caps[i] : 0.0;
    else alpha[i] = std::min(std::max(alpha[i] + change, 0.0), caps[i]);
    for (int64_t b = 0; b < rows.size(); ++b) v[b] -= step * k(a, b);
  }

  // The worst row and the one that gains most with it (Fan, Chen and Lin, 2005); false where none violates.
  bool pair(double goal) {
    int64_t first = -1, second = -1;
    for (int64_t a = 0; a < rows.size(); ++a)
      if (moves(a, true) && (first < 0 || v[a] > v[first])) first = a;
    if (first < 0) return false;
    double best = 0.0, worst = 0.0, bend = 1.0;
    for (int64_t b = 0; b < rows.size(); ++b) {
      const double lack = v[first] - v[b];
      if (!(lack > 0.0) || !moves(b, false)) continue;
      worst = std::max(worst, lack);
      const double here = std::max(k(first, first) + k(b, b) - 2.0 * k(first, b), LEAST_BEND);
      if (lack * lack / here > best) best = lack * lack / here, second = b, bend = here;
    }
    if (second < 0 || worst <= goal) return false;
    const double step = std::min({(v[first] - v[second]) / bend, room(first, true), room(second, false)});
    move(first, step);
    move(second, -step);
    return true;
  }

  // The row that gains most by itself.
  bool single(double goal) {
    int64_t chosen = -1;
    double best = 0.0, worst = 0.0, to = 0.0;
    for (int64_t a = 0; a < rows.size(); ++a) {
      if (v[a] == 0.0 || !moves(a, v[a] > 0.0)) continue;
      worst = std::max(worst, std::abs(v[a]));
      const double bend = std::max(k(a, a), LEAST_BEND), most = room(a, v[a] > 0.0);
      const double size = std::min(std::abs(v[a]) / bend, most), gain = size * (std::abs(v[a]) - 0.5 * bend * size);
      if (gain > best) best = gain, chosen = a, to = v[a] > 0.0 ? size : -size;
    }
    if (chosen < 0 || worst <= goal) return false;
    move(chosen, to);
    return true;
  }
};

// Moves the multipliers of a working set until they violate by at most `goal`, `most` times at most; α and the scores
// f = Kβ of all rows follow. Row `places[a]` of `kept` is that of the Gram matrix for rows[a]; `room` has a row more than
// there are in the set. Returns the number of moves.
static int64_t work(Matrix<const double> kept, Vector<const int64_t> places, Vector<const int64_t> rows, Vector<const double> y,
                    Vector<const double> caps, bool free, double goal, int64_t most, Vector<double> alpha, Vector<double> f,
                    Matrix<double> room) {
  const int64_t q = rows.size(), n = f.size();
  require(places.size() == q && room.shape[0] == q + 2 && room.shape[1] == q, "room must have two rows more than the set");
  require(y.size() == n && caps.size() == n && alpha.size() == n && kept.shape[1] == n, "there must be a number for each row");
  for (int64_t a = 0; a < q; ++a)
    require(rows[a] >= 0 && rows[a] < n && places[a] >= 0 && places[a] < kept.shape[0], "there is no such row");
  WorkingSet set{rows, y.data, caps.data, alpha.data, room.data, room.row(q)};
  double* before = room.row(q + 1);
  for (int64_t a = 0; a < q; ++a) {
    before[a] = alpha[rows[a]];
    set.v[a] = y[rows[a]] - f[rows[a]];
    for (int64_t b = 0; b < q; ++b) set.K[a * q + b] = kept(places[a], rows[b]);
  }
  int64_t moves = 0;
  while (moves < most && (free ? set.pair(goal) : set.single(goal))) ++moves;
  for (int64_t a = 0; a < q; ++a) {
    const double change = y[rows[a]] * (alpha[rows[a]] - before[a]);
    if (change != 0.0) accumulate(kept.row(places[a]), change, f.data, n);
  }
  return moves;
}

void bind_gram(nb::module_ m) { def(m, "work", work, "Moves of the multipliers of a working set."); }
}  // namespace linsep
