// What is asked of single rows from Python, and the check of sparse rows at the door.
#include "rows.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace linsep {
// Whether rows can be read without leaving the arrays: pointers that do not fall, columns below d.
static bool sound(Vector<const uint32_t> column, Vector<const int64_t> start, int64_t d) {
  const int64_t n = start.shape[0] - 1;
  if (n < 0 || start[0] < 0 || start[n] > column.shape[0]) return false;
  bool rising = true;
  for (int64_t i = 0; i < n; ++i) rising &= start[i] <= start[i + 1];
  if (!rising) return false;
  uint32_t largest = 0;
  for (int64_t e = start[0]; e < start[n]; ++e) largest = column[e] > largest ? column[e] : largest;
  return start[0] == start[n] || int64_t(largest) < d;
}

// Dense rows rounded to whole numbers of a unit: xᵢ ≈ unitᵢ qᵢ with |q| ≤ 127, lengthᵢ = ‖unitᵢ qᵢ‖, and errorᵢ at least as
// large as what the score of the rounded row can be off for each unit of ‖w‖: ‖xᵢ − unitᵢ qᵢ‖ (Cauchy-Schwarz), and the
// rounding of the sums that make either score. No screen for rows whose largest number is no ordinary one: error is infinite.
template <class T>
static void round_rows(Matrix<const T> X, Matrix<int8_t> Q, Vector<double> unit, Vector<double> error, Vector<double> length) {
  const int64_t n = X.shape[0], d = X.shape[1];
  require(Q.shape[0] == n && Q.shape[1] >= d && unit.shape[0] == n && error.shape[0] == n && length.shape[0] == n, "there must be a place for each row");
  const double rounding = 1.3e-7 * double(d + 8);
  std::vector<T> whole(size_t(X.shape[1])), rest(size_t(X.shape[1]));
  for (int64_t i = 0; i < n; ++i) {
    const T* x = X.row(i);
    const double largest = double(largest_magnitude(x, d));
    unit[i] = length[i] = 0;
    error[i] = std::numeric_limits<double>::infinity();
    if (!(1e-30 < largest && largest < 1e30)) continue;
    unit[i] = largest / 127;
    const T scale = T(127 / largest);
    int8_t* q = Q.row(i);
    for (int64_t j = 0; j < d; ++j) {
      whole[size_t(j)] = std::nearbyint(x[j] * scale);
      rest[size_t(j)] = x[j] * scale - whole[size_t(j)];
      q[j] = int8_t(int32_t(whole[size_t(j)]));
    }
    const double left = std::sqrt(double(inner(rest.data(), rest.data(), d))), all = std::sqrt(double(inner(whole.data(), whole.data(), d)));
    length[i] = 1.001 * unit[i] * all;
    error[i] = unit[i] * (1.001 * left + rounding * (all + left));
  }
}

template <class Rows> static void bind(nb::module_& m) {
  using W = typename Rows::Real;
  def(m, "dot", [](Rows rows, int64_t i, Vector<const W> w) {
    require(0 <= i && i < rows.n, "there is no such row");
    require(w.shape[0] >= rows.d, "w must have a weight for each feature");
    return rows.dot(i, w.data);
  }, "⟨w, xᵢ⟩");
  def(m, "square", [](Rows rows, int64_t i) {
    require(0 <= i && i < rows.n, "there is no such row");
    return rows.square(i);
  }, "‖xᵢ‖²");
  def(m, "squares", [](Rows rows, Vector<double> lengths) {
    require(lengths.shape[0] == rows.n, "there must be a place for each row");
    for (int64_t i = 0; i < rows.n; ++i) lengths[i] = rows.square(i);
  }, "‖xᵢ‖² of each row");
  def(m, "largest_square", [](Rows rows) {
    double largest = 0;
    for (int64_t i = 0; i < rows.n; ++i) largest = std::max(largest, rows.square(i));
    return largest;
  }, "max ‖xᵢ‖²");
}

void bind_rows(nb::module_ m) {
  def(m, "round_rows", round_rows<double>, "Rows rounded to eight bits, and how far they are off.");
  def(m, "round_rows", round_rows<float>);
  def(m, "sound", sound, "Whether CSR rows can be read without leaving the arrays.");
  each_layout([&m](auto rows) { bind<decltype(rows)>(m); });
}
}  // namespace linsep
