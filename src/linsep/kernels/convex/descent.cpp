// Descent on the dual of two-class problems, one multiplier at a time: Hsieh et al. (2008), Yu, Huang and Lin (2011).
//
//   max D(α) = −½‖w‖² − Σ Uᵢℓ*(−αᵢ/Uᵢ),   w = Σ αᵢyᵢ(xᵢ − μ),   zᵢ = yᵢ(⟨w, xᵢ − μ⟩ + b)
//
// The sum that is carried is Σ αᵢyᵢxᵢ: what μ takes off it follows from Σ αᵢyᵢ. What is known of a row lies in one line
// of the cache.
#include "losses.hpp"
#include "rows.hpp"

namespace linsep {
// Columns of `points`: y, U, ‖x − μ‖² + ρ, ⟨x, μ⟩, α, the logit of α/U, z when last met, whether the row may be left out.
enum Column : int { SIGN, CAP, SQUARE, SHIFT, ALPHA, LOGIT, MARGIN, IDLE, COLUMNS };
// What a sweep is told, and leaves for the next: b, what a change of Σ αy pulls at it, Σ αy, ⟨Σ αyx, μ⟩, ‖μ‖², and how
// far margins move between visits at least. What it says: the slack met, and the change of margins since the last visits.
enum Place : int { BIAS, PULL, TOTAL, LEVEL, SPREAD, REACH, MET, DRIFT, PLACES };
constexpr int64_t AHEAD = 8;      // visits by which the memory of a row is asked for before it is needed
constexpr double RELAX = 1.2;     // a longer step gains almost as much, and leaves less for later (over-relaxation)
constexpr double ROUNDING = 1e-15;

inline double sigmoid(double u) {
  const double tail = exp_of_negative(-std::abs(u));
  return (u > 0.0 ? 1.0 : tail) / (1.0 + tail);
}
inline double softplus(double t) { return log_of_one_plus(exp_of_negative(-std::abs(t))) + std::max(0.0, t); }

// The u with u + z + q(Uσ(u) − a) = 0, by Newton's method kept within a bracket.
static double logit_root(double a, double logit, double z, double q, double U) {
  double low = -z - q * (U - a), high = -z + q * a;
  const bool soft = q * U <= 8.0;
  if (!soft) {
    const double stiff = log_of(q * U + 1.0) + 1.0;
    low = std::max(low, std::min(0.0, high) - stiff);
    high = std::min(high, std::max(0.0, low) + stiff);
  }
  double u = std::min(std::max(logit, low), high), before = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 100; ++k) {
    const double s = sigmoid(u), g = u + z + q * (U * s - a), step = g / (1.0 + q * U * s * (1.0 - s));
    (g > 0.0 ? high : low) = u;
    u -= step;
    if (u < low || u > high || std::abs(step) > 0.5 * before) {
      u = 0.5 * (low + high);
      before = std::numeric_limits<double>::infinity();
    } else if (std::abs(step) < (soft ? 0.25 : 1e-3)) {
      break;
    } else {
      before = std::abs(step);
    }
  }
  return u;
}

// A row as the dual sees it, for each loss:
//   move   the best α where the row's own curvature is q, and its logit
//   slack  Uℓ(z) + Uℓ*(−α/U) + αz ≥ 0: what the row adds to the gap;  `guess` may be a cheap estimate of it
//   rest   how far z may move before α leaves the bound it rests at, negative where it is at none
inline double move(const Hinge& loss, double a, double&, double z, double q, double U) {
  if (!(q > 0.0)) return z < loss.margin ? U : 0.0;
  return std::min(std::max(a + RELAX * (loss.margin - z) / q, 0.0), U);
}
inline double slack(const Hinge& loss, double a, double, double z, double U) {
  return z < loss.margin ? (U - a) * (loss.margin - z) : a * (z - loss.margin);
}
inline double rest(const Hinge& loss, double a, double z, double U) {
  return a == 0.0 ? z - loss.margin : a == U ? loss.margin - z : -1.0;
}

inline double move(const SquaredHinge& loss, double a, double&, double z, double q, double U) {
  const double h = 0.5 / U;
  return std::max(a + RELAX * (loss.margin - z - h * a) / (q + h), 0.0);
}
inline double slack(const SquaredHinge& loss, double a, double, double z, double U) {
  const double lack = loss.margin - z, off = lack - 0.5 * a / U;
  return lack > 0.0 ? U * off * off : 0.25 * a * a / U - a * lack;
}
inline double rest(const SquaredHinge& loss, double a, double z, double) { return a == 0.0 ? z - loss.margin : -1.0; }

inline double move(const Logistic&, double a, double& logit, double z, double q, double U) {
  const double s = a / U, step = (logit + z) / (1.0 + q * U * s * (1.0 - s));
  logit = std::abs(step) < 0.25 ? logit - step : logit_root(a, logit, z, q, U);
  return U * sigmoid(logit);
}
// The Bregman divergence of log(1 + eᵗ) between −z and the logit.
inline double slack(const Logistic&, double a, double logit, double z, double U) {
  const double s = a / U, v = s * (1.0 - s), d = z + logit;
  if (std::abs(d) < 1e-2) return U * v * d * d * (0.5 + (s - 0.5) * d / 3.0 + (1.0 - 6.0 * v) * d * d / 24.0);
  return U * std::max(0.0, softplus(-z) - softplus(logit) + (a > 0.0 ? s * d : 0.0));
}
inline double rest(const Logistic&, double, double, double) { return -1.0; }

template <class L> inline double guess(const L& loss, double a, double logit, double z, double U) { return slack(loss, a, logit, z, U); }
inline double guess(const Logistic&, double a, double logit, double z, double U) {
  const double s = a / U, d = std::min(std::abs(z + logit), 3.0);
  return a > 0.0 ? 0.5 * U * s * (1.0 - s) * d * d : U;
}

// Calls act(loss) with the struct of a loss that has a dual step.
template <class Act> void with_dual(const Loss& loss, Act act) {
  require(loss.kind != Kind::smoothed_hinge, "a rounded hinge has no dual step");
  if (loss.kind == Kind::logistic) return act(Logistic{loss.parameter});
  if (loss.kind == Kind::hinge) return act(Hinge{loss.parameter});
  act(SquaredHinge{loss.parameter});
}

static void require_points(int64_t n, Matrix<double> points) {
  require(points.shape[0] == n && points.shape[1] == COLUMNS, "points must have eight numbers for each row");
}
static void require_chosen(int64_t n, Vector<const uint32_t> chosen) {
  for (int64_t k = 0; k < chosen.size(); ++k) require(int64_t(chosen[k]) < n, "there is no such row");
}

// Visits the rows in `order` and moves each multiplier to its best place given all others: w ← w + yδx, b ← b + ρyδ.
template <class Rows>
static void sweep(Loss given, Rows rows, Matrix<double> points, Vector<const uint32_t> order, Vector<double> w, Vector<double> at) {
  require_points(rows.n, points);
  require_chosen(rows.n, order);
  require(w.size() == rows.d && at.size() == PLACES, "w must have a number for each feature, and at eight");
  with_dual(given, [&](auto loss) {
    double b = at[BIAS], total = at[TOTAL], level = at[LEVEL], met = 0.0, drift = 0.0;
    const double pull = at[PULL], spread = at[SPREAD], reach = at[REACH];
    for (int64_t k = 0; k < order.size(); ++k) {
      const int64_t i = order[k], soon = order[std::min(k + AHEAD, order.size() - 1)];
      rows.bring(soon);
      __builtin_prefetch(points.row(soon));
      double* p = points.row(i);
      const double y = p[SIGN], U = p[CAP], a = p[ALPHA], shift = p[SHIFT];
      const double z = y * (rows.dot(i, w.data) - level - total * (shift - spread) + b);
      met += guess(loss, a, p[LOGIT], z, U);
      drift += std::abs(z - p[MARGIN]);
      const double to = move(loss, a, p[LOGIT], z, p[SQUARE], U), d = y * (to - a);
      p[MARGIN] = z;
      p[IDLE] = rest(loss, to, z, U) > std::max(reach, drift / double(k + 1)) ? 1.0 : 0.0;
      if (to == a) continue;
      p[ALPHA] = to;
      rows.add(i, d, w.data);
      total += d;
      level += d * shift;
      b += d * pull;
    }
    at[BIAS] = b, at[TOTAL] = total, at[LEVEL] = level, at[MET] = met, at[DRIFT] = drift;
  });
}

// Sets the margins z = y(s + b) of all rows, and which of them rest farther than `reach`; Σ Uℓ(z) and Σ slack.
static void weigh(Loss given, Matrix<double> points, Vector<const double> s, double b, double reach, Vector<double> sums) {
  require_points(s.size(), points);
  require(sums.size() == 2, "there are two sums");
  with_dual(given, [&](auto loss) {
    double lost = 0.0, gap = 0.0;
    for (int64_t i = 0; i < s.size(); ++i) {
      double* p = points.row(i);
      const double U = p[CAP], z = p[MARGIN] = p[SIGN] * (s[i] + b);
      p[IDLE] = !(U > 0.0) || rest(loss, p[ALPHA], z, U) > reach ? 1.0 : 0.0;
      if (!(U > 0.0)) continue;
      lost += U * loss.terms(z).value;
      gap += slack(loss, p[ALPHA], p[LOGIT], z, U);
    }
    sums[0] = lost, sums[1] = gap;
  });
}

// First and second derivative in b of Σ Uℓ(y(s + b)).
static void tilt(Loss given, Matrix<double> points, Vector<const double> s, double b, Vector<double> sums) {
  require_points(s.size(), points);
  require(sums.size() == 2, "there are two sums");
  with_dual(given, [&](auto loss) {
    double slope = 0.0, bend = 0.0;
    for (int64_t i = 0; i < s.size(); ++i) {
      const double* p = points.row(i);
      const Terms at = loss.terms(p[SIGN] * (s[i] + b));
      slope -= p[CAP] * p[SIGN] * at.multiplier;
      bend += p[CAP] * at.curvature;
    }
    sums[0] = slope, sums[1] = bend;
  });
}

// Sets ‖x − μ‖² and ⟨x, μ⟩ of all rows.
template <class Rows> static void measure(Rows rows, Vector<const double> centre, Matrix<double> points) {
  require_points(rows.n, points);
  require(centre.size() == rows.d, "the centre must have a number for each feature");
  const double spread = inner(centre.data, centre.data, rows.d);
  for (int64_t i = 0; i < rows.n; ++i) {
    const double q = rows.square(i), shift = rows.dot(i, centre.data);
    points(i, SHIFT) = shift;
    points(i, SQUARE) = std::max(q - 2.0 * shift + spread, ROUNDING * (q + spread));  // less is lost in the difference
  }
}

// w ← w + Σ δx over the chosen rows
template <class Rows> static void add_rows(Rows rows, Vector<const uint32_t> chosen, Vector<const double> deltas, Vector<double> w) {
  require(w.size() == rows.d && deltas.size() == chosen.size(), "w must have a number for each feature, and deltas for each row");
  require_chosen(rows.n, chosen);
  for (int64_t k = 0; k < chosen.size(); ++k) rows.add(int64_t(chosen[k]), deltas[k], w.data);
}

// Lists the rows with α > 0 on the side that `excess` has the sign of, with `inside` only those with α < U; how many.
static int64_t heavier(Matrix<const double> points, double excess, bool inside, Vector<uint32_t> chosen) {
  require(points.shape[1] == COLUMNS && chosen.size() > points.shape[0], "chosen must have a number more than there are rows");
  int64_t count = 0;
  for (int64_t i = 0; i < points.shape[0]; ++i) {
    const double* p = points.row(i);
    chosen[count] = uint32_t(i);
    count += p[SIGN] * excess > 0.0 && p[ALPHA] > 0.0 && (!inside || p[ALPHA] < p[CAP]);
  }
  return count;
}

void bind_descent(nb::module_ m) {
  def(m, "weigh", weigh, "Margins of all rows, their losses and slacks.");
  def(m, "tilt", tilt, "Derivatives of the losses in the intercept.");
  def(m, "heavier", heavier, "The rows that outweigh the other class.");
  each_layout([&m](auto rows) {
    using Rows = decltype(rows);
    def(m, "sweep", sweep<Rows>, "Visits to rows, one multiplier moved at each.");
    def(m, "measure", measure<Rows>, "Lengths of rows less a centre.");
    def(m, "add_rows", add_rows<Rows>, "Σ δx of chosen rows.");
  });
}
}  // namespace linsep
