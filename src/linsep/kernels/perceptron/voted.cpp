// Perceptrons that remember every separator they met: corrections and how long each separator lived.
#include <limits>
#include <vector>

#include "online.hpp"

namespace linsep {
// Rows known only by their inner products, K. The "weights" of class k are its scores f_k(xⱼ).
struct Gram {
  using Real = double;
  static constexpr bool sparse = false;
  Matrix<const double> K;
  int64_t n = 0;

  bool holds(Matrix<double> w, int64_t classes) const { return K.shape[1] == n && w.shape[0] == classes && w.shape[1] == n; }
  double square(int64_t i) const { return K(i, i); }  // ‖φ(x)‖² = κ(x, x)
  void scores(int64_t i, Matrix<double> w, double* s) const {
    for (int64_t k = 0; k < w.shape[0]; ++k) s[k] = w(k, i);
  }
  void add_to(int64_t i, const double* a, int64_t classes, Matrix<double> w) const {
    for (int64_t k = 0; k < classes; ++k)
      if (a[k] != 0) accumulate(K.row(i), a[k], w.row(k), n);  // f ← f + a κ(xᵢ, ·)
  }
};

using Written = std::tuple<Vector<int64_t>, Vector<int64_t>, Matrix<double>, Vector<double>>;  // rows, when, steps, lives

// Presents rows; writes down each correction, and how long the separator before it lived.
//   where wrong: wₙ₊₁ ← wₙ + yx, cₙ₊₁ ← 0;  else cₙ ← cₙ + 1
// Returns (rows corrected, corrections by Kesler's count, perceptron loss).
template <class Rows, class T = typename Rows::Real>
static std::tuple<int64_t, int64_t, double> present(const Rows& rows, Presented presented, Planes<T> planes, Vector<double> votes, Written written) {
  const auto [codes, order, scale] = presented;
  const auto [W, b, bias] = planes;
  const auto [where, when, steps, lives] = written;
  const int64_t classes = b.shape[0], n = order.shape[0];
  require_agreement(rows, codes, planes);
  require(scale.shape[0] == 0 || scale.shape[0] == n, "shares must be as many as rows in order, or none");
  require(votes.shape[0] == 1 && where.shape[0] >= n && when.shape[0] >= n && lives.shape[0] >= n && steps.shape[0] >= n && steps.shape[1] == classes,
          "there must be room for a correction of each row");
  std::vector<double> s(size_t(Rows::sparse ? W.shape[1] : classes)), a(static_cast<size_t>(classes));
  int64_t corrected = 0, made = 0;
  double total = 0;
  for (int64_t p = 0; p < n; ++p) {
    const int64_t i = row_at(order, p, rows.n), c = classes > 1 ? class_of(codes, i, classes) : codes[i];
    const double share = share_of(scale, p);
    rows.scores(i, W, s.data());
    for (int64_t k = 0; k < classes; ++k) s[size_t(k)] += b[k];
    const Asked asked = correct(Rosenblatt{1, 0, 0}, rows, i, c, bias, share, classes, s.data(), a.data());
    total += share * asked.loss;
    if (asked.corrections == 0) {
      votes[0] += share;
      continue;
    }
    for (int64_t k = 0; k < classes; ++k) steps(corrected, k) = a[size_t(k)] *= share;
    move(rows, i, a.data(), bias, W, b);
    where[corrected] = i;
    when[corrected] = p;
    lives[corrected++] = votes[0];
    votes[0] = 0;
    made += asked.corrections;
  }
  return std::make_tuple(corrected, made, total);
}

// Adds corrections one after the other, so that it does not matter how many come at a time:
// whole ← whole + aₘ(xₘ, 1), early ← early + Cₘaₘ(xₘ, 1).
template <class Rows>
static void gather(Rows rows, Vector<const int64_t> where, Matrix<const double> steps, Vector<const double> before, Matrix<double> whole,
                   Matrix<double> early) {
  require(steps.shape[0] == where.shape[0] && before.shape[0] == where.shape[0], "steps and lives must be as many as rows");
  for (const auto& sums : {whole, early})
    require(sums.shape[0] == steps.shape[1] && sums.shape[1] == rows.d + 1, "sums must have a place for each class, feature and intercept");
  for (int64_t m = 0; m < where.shape[0]; ++m) {
    const int64_t i = row_at(where, m, rows.n);
    for (int64_t k = 0; k < steps.shape[1]; ++k) {
      const double a = steps(m, k);
      if (a == 0) continue;
      rows.add(i, a, whole.row(k));
      rows.add(i, before[m] * a, early.row(k));
      whole(k, rows.d) += a;
      early(k, rows.d) += before[m] * a;
    }
  }
}

// Lets every separator vote on every row; separator 0 has voted already. `columns` are those of the kernel's values,
// counted is (n, classes), or (n, 1) for the balance of two. linsep.model.expansion.Votes does the same, bit by bit.
//   ⟨wₙ₊₁, x⟩ = ⟨wₙ, x⟩ + a(κ(xᵢ, x) + bias)
static void count_votes(Matrix<const double> columns, Vector<const int64_t> where, Matrix<const double> steps, Vector<const double> survival,
                        double bias, Matrix<double> counted) {
  const int64_t n = counted.shape[0], classes = counted.shape[1];
  require(columns.shape[1] == n && steps.shape[0] == where.shape[0] && steps.shape[1] == classes, "there must be a step of each class, and a value of each row");
  require(survival.shape[0] == where.shape[0] + 1, "survival must be that of each separator");
  std::vector<double> scores(size_t(n * classes));
  for (int64_t m = 0; m < where.shape[0]; ++m) {
    const double *column = columns.row(row_at(where, m, columns.shape[0])), c = survival[m + 1];
    for (int64_t k = 0; k < classes; ++k) {
      double* s = scores.data() + k * n;
      for (int64_t x = 0; x < n; ++x) s[x] += steps(m, k) * (column[x] + bias);
    }
    if (classes == 1) {
      for (int64_t x = 0; x < n; ++x) counted[x] += scores[size_t(x)] >= 0 ? c : -c;
      continue;
    }
    for (int64_t x = 0; c != 0 && x < n; ++x) {
      int64_t best = 0;
      for (int64_t k = 1; k < classes; ++k)
        if (scores[size_t(k * n + x)] > scores[size_t(best * n + x)]) best = k;
      counted(x, best) += c;
    }
  }
}

void bind_voted(nb::module_ m) {
  each_layout([&m](auto rows) {
    using Rows = decltype(rows);
    def(m, "present", present<Rows>, "Presents rows; (rows corrected, corrections, loss).");
    def(m, "gather", gather<Rows>, "Adds corrections to the sums of a running average.");
  });
  def(m, "present_gram", [](Matrix<const double> K, Presented presented, Planes<double> planes, Vector<double> votes, Written written) {
    return present(Gram{K, K.shape[0]}, presented, planes, votes, written);
  }, "`present` for rows known by their Gram matrix.");
  def(m, "count_votes", count_votes, "The votes of every separator on every row.");
}
}  // namespace linsep
