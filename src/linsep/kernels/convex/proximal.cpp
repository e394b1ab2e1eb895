// Quadratic models with corners, one coordinate at a time, and multipliers that bound the optimum from below.
//
//   ⟨g, d⟩ + ½⟨d, Hd⟩ + Σ cornerⱼ|wⱼ + dⱼ| + ½ ridgeⱼ(wⱼ + dⱼ)²    over lowⱼ ≤ wⱼ + dⱼ ≤ highⱼ
#include "losses.hpp"
#include "rows.hpp"
#include "vectors.hpp"

namespace linsep {
constexpr int CYCLES = 10;     // sweeps over the coordinates with a weight, for one over all
constexpr double FAR = 0.1;    // part of the slopes met first that is left, at most
constexpr double INNER = 0.3;  // of what is enough, for the sweeps over some

// The point of a model, and what it is made of besides H. Slopes of coordinate j are counted in units of size[j].
struct Corners {
  Vector<const double> g, w, corner, ridge, low, high, size;
  Vector<double> change;
  bool serve(int64_t m) const {
    for (const auto* one : {&g, &w, &corner, &ridge, &low, &high, &size})
      if (one->shape[0] != m) return false;
    return change.shape[0] == m;
  }
  // Where wⱼ + dⱼ is smallest along coordinate j, from x with a slope without the corner's; x itself where nothing bends or bounds.
  double best(int64_t j, double x, double slope, double bend) const {
    double to = x;
    if (bend > 0.0) {
      const double smooth = x - slope / bend, left = std::abs(smooth) - corner[j] / bend;
      to = left > 0.0 ? std::copysign(left, smooth) : 0.0;
    } else if (std::abs(slope) < corner[j]) {
      to = 0.0;  // flat: the corner alone can pull
    } else {
      const double end = slope > corner[j] ? low[j] : slope < -corner[j] ? high[j] : x;
      to = std::isfinite(end) ? end : x;
    }
    return std::min(std::max(to, low[j]), high[j]);
  }
};

// Each coordinate to its minimum in turn: all of them once, then those at no corner or bound until they hardly move.
// `worst` becomes the largest slopes met in the first sweep and the last one. What is enough is `accuracy`, or where the first
// slopes are s the part s/unit of them, `FAR` at most: steps near the optimum are worth more digits.
template <class Form> static void cycle(Form& form, const Corners& at, double accuracy, double unit, Vector<double> worst) {
  require(worst.shape[0] == 2, "worst must have two numbers");
  worst[1] = 0.0;
  for (int sweep = 0; sweep <= CYCLES; ++sweep) {
    double most = 0.0;
    for (int64_t j = 0; j < at.g.shape[0]; ++j) {
      const double x = at.w[j] + at.change[j], bend = form.bend(j) + at.ridge[j];
      if (sweep > 0 && (x == 0.0 || x == at.low[j] || x == at.high[j])) continue;
      const double to = at.best(j, x, at.g[j] + form.slope(j) + at.ridge[j] * x, bend), step = to - x;
      if (step == 0.0) continue;
      at.change[j] = to == 0.0 ? -at.w[j] : to == at.low[j] || to == at.high[j] ? to - at.w[j] : at.change[j] + step;
      form.move(j, step);
      most = std::max(most, std::abs(step) * bend / at.size[j]);
    }
    worst[sweep > 0] = most;
    if (sweep == 0) accuracy = std::max(accuracy, most * std::min(FAR, most / unit));
    if (most <= (sweep > 0 ? INNER : 1.0) * accuracy) return;
  }
}

// H as a matrix; `product` is Hd.
struct ByMatrix {
  Matrix<const double> H;
  Vector<double> product;
  double bend(int64_t j) const { return H(j, j); }
  double slope(int64_t j) const { return product[j]; }
  void move(int64_t j, double step) { accumulate(H.row(j), step, product.data, product.shape[0]); }
};

// H = BᵀB − hhᵀ/h₀ with `damping` more on its diagonal; the columns of B are `columns`, `moved` is Bd. The part of h is that of
// an intercept at its best place. Bends are the diagonal of H.
template <class Columns> struct ByColumns {
  Columns columns;
  Vector<const double> h, damping, bends;
  double h0, along;
  Vector<double> moved, change;
  double bend(int64_t j) const { return bends[j]; }
  double slope(int64_t j) const {
    const double s = columns.dot(j, moved.data) + damping[j] * change[j];
    return h0 > 0.0 ? s - h[j] * along / h0 : s;
  }
  void move(int64_t j, double step) {
    columns.add(j, step, moved.data);
    along += step * h[j];
  }
};

// H = Σ aaᵀ ⊗ (diag q − qqᵀ/U) of the softmax of K classes, for the rows a of few columns: `columns` are those, q = Up is (K, n),
// `moved` the scores of d, `mean` their means Σ p·moved. Coordinate k·m + j is column j of class k.
template <class Columns> struct ByClasses {
  Columns columns;
  Matrix<const double> q;
  Vector<const double> inverse, bends;  // 1/U of each row, and the diagonal of H
  Matrix<double> moved;
  Vector<double> mean;
  double bend(int64_t c) const { return bends[c]; }
  double slope(int64_t c) const {
    const int64_t k = c / columns.n;
    const double *own = q.row(k), *to = moved.row(k);
    double s = 0.0;
    columns.each(c % columns.n, [&](int64_t i, double x) { s = fused(x * own[i], to[i] - mean[i], s); });
    return s;
  }
  void move(int64_t c, double step) {
    const int64_t k = c / columns.n;
    const double* own = q.row(k);
    double* to = moved.row(k);
    columns.each(c % columns.n, [&](int64_t i, double x) {
      to[i] = fused(step, x, to[i]);
      mean[i] = fused(step * x, own[i] * inverse[i], mean[i]);
    });
  }
};

static void cycle_matrix(Matrix<const double> H, Vector<double> product, Vector<const double> g, Vector<const double> w,
                         Vector<const double> corner, Vector<const double> ridge, Vector<const double> low, Vector<const double> high,
                         Vector<const double> size, Vector<double> change, double accuracy, double unit, Vector<double> worst) {
  const Corners at{g, w, corner, ridge, low, high, size, change};
  require(H.shape[0] == H.shape[1] && product.shape[0] == H.shape[0] && at.serve(H.shape[0]), "H must be square, with a row for each number");
  ByMatrix form{H, product};
  cycle(form, at, accuracy, unit, worst);
}

template <class Columns>
static void cycle_columns(Columns columns, Vector<const double> h, double h0, Vector<const double> damping, Vector<const double> bends,
                          Vector<double> moved, Vector<const double> g, Vector<const double> w, Vector<const double> corner,
                          Vector<const double> ridge, Vector<const double> low, Vector<const double> high, Vector<const double> size,
                          Vector<double> change, double accuracy, double unit, Vector<double> worst) {
  const Corners at{g, w, corner, ridge, low, high, size, change};
  const int64_t m = columns.n;
  require(at.serve(m) && h.shape[0] == m && damping.shape[0] == m && bends.shape[0] == m, "there must be a number for each column");
  require(moved.shape[0] == columns.d, "moved must have a number for each row");
  ByColumns<Columns> form{columns, h, damping, bends, h0, inner(h.data, change.data, m), moved, change};
  cycle(form, at, accuracy, unit, worst);
}

template <class Columns>
static void cycle_classes(Columns columns, Matrix<const double> q, Vector<const double> inverse, Vector<const double> bends,
                          Matrix<double> moved, Vector<double> mean, Vector<const double> g, Vector<const double> w,
                          Vector<const double> corner, Vector<const double> ridge, Vector<const double> low, Vector<const double> high,
                          Vector<const double> size, Vector<double> change, double accuracy, double unit, Vector<double> worst) {
  const Corners at{g, w, corner, ridge, low, high, size, change};
  const int64_t K = q.shape[0], n = columns.d;
  require(at.serve(K * columns.n) && bends.shape[0] == K * columns.n, "there must be a number for each class and column");
  require(q.shape[1] == n && moved.shape[0] == K && moved.shape[1] == n && inverse.shape[0] == n && mean.shape[0] == n,
          "probabilities and scores must have a number for each class and row");
  ByClasses<Columns> form{columns, q, inverse, bends, moved, mean};
  cycle(form, at, accuracy, unit, worst);
}

// αy of multipliers brought within 0 ≤ α ≤ U·most, into `out`; the sums of α over the rows of either class, +1 first
static void clipped(Loss given, Vector<const double> pull, Vector<const int8_t> y, Vector<const double> U, Vector<double> out,
                    Vector<double> sums) {
  const int64_t n = pull.shape[0];
  require(y.shape[0] == n && out.shape[0] == n && (U.shape[0] == n || U.shape[0] == 1) && sums.shape[0] == 2,
          "multipliers, labels and weights must have a number for each row");
  with_loss(given, [&](auto loss) {
    const double most = loss.most();
    for (int64_t i = 0; i < n; ++i) {
      const double weight = U[U.shape[0] == 1 ? 0 : i], a = y[i] > 0 ? pull[i] : -pull[i];
      const double in = weight > 0.0 ? std::min(std::max(a, 0.0), weight * most) : 0.0;
      out[i] = y[i] > 0 ? in : -in;
    }
  });
  sums[0] = lane_sum<double>(n, [&](int64_t i) { return std::max(out[i], 0.0); });
  sums[1] = lane_sum<double>(n, [&](int64_t i) { return std::max(-out[i], 0.0); });
}

// Σ −Uℓ*(−share·α/U) of the meant loss, for α = |pull| within their bounds
static double dual_terms(Loss given, Vector<const double> pull, Vector<const double> U, double share) {
  const int64_t n = pull.shape[0];
  require(U.shape[0] == n || U.shape[0] == 1, "multipliers and weights must have a number for each row");
  return with_loss(given, [&](auto loss) {
    return lane_sum<double>(n, [&](int64_t i) {
      const double weight = U[U.shape[0] == 1 ? 0 : i];
      return weight > 0.0 ? weight * loss.dual(share * std::abs(pull[i]) / weight) : 0.0;
    });
  });
}

void bind_proximal(nb::module_ m) {
  def(m, "cycle_matrix", cycle_matrix, "Sweeps over the coordinates of a model with a matrix.");
  def(m, "cycle_columns", cycle_columns<Dense<double>>, "The same with columns in place of the matrix.");
  def(m, "cycle_columns", cycle_columns<CSR<double>>, "The same with columns in place of the matrix.");
  def(m, "cycle_classes", cycle_classes<Dense<double>>, "The same of several classes.");
  def(m, "cycle_classes", cycle_classes<CSR<double>>, "The same of several classes.");
  def(m, "clipped", clipped, "Multipliers brought within their bounds, and their sums.");
  def(m, "dual_terms", dual_terms, "What multipliers bound the losses by.");
}
}  // namespace linsep
