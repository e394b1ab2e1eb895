// Columns made of columns.
#include "rows.hpp"

namespace linsep {
// made[i, first + k] ← X[i, aₖ] · X[i, bₖ]
template <class T> static void pair_products(Matrix<const T> X, Matrix<const uint32_t> pairs, Matrix<T> made, int64_t first) {
  require(pairs.shape[1] == 2, "pairs must be pairs");
  require(first >= 0 && made.shape[0] == X.shape[0] && made.shape[1] == first + pairs.shape[0], "there must be a place for each product");
  for (int64_t e = 0; e < pairs.size(); ++e) require(int64_t(pairs[e]) < X.shape[1], "pairs must name columns of X");
  for (int64_t i = 0; i < X.shape[0]; ++i) {
    const T* x = X.row(i);
    for (int64_t k = 0; k < pairs.shape[0]; ++k) made(i, first + k) = x[pairs(k, 0)] * x[pairs(k, 1)];
  }
}

void bind_features(nb::module_ m) {
  def(m, "pair_products", pair_products<double>, "Products of pairs of columns.");
  def(m, "pair_products", pair_products<float>);
}
}  // namespace linsep
