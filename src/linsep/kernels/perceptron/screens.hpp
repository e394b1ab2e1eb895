// Rounded copies whose scores settle most rows without a look at all digits. A screen never changes an answer: where
// its error bound leaves a doubt, it says so.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "online.hpp"

namespace linsep {
// The weights in whole numbers of a unit, and how far scores by them can be off: for each unit of ‖x − rounded x‖, ‖w‖,
// and for each of ‖rounded x‖, ‖w − rounded w‖.
struct WholeWeights {
  std::vector<int16_t> v;
  double unit = 0, norm = 0, off = 0;
};

// Σ q v over a multiple of 32 whole numbers, whose sum cannot leave 32 bits.
inline int32_t whole_product(const int8_t* q, const int16_t* v, int64_t n) {
  int32_t sum = 0;
#ifdef LINSEP_AVX2
  __m256i a = _mm256_setzero_si256(), b = a;
  const auto term = [q, v](int64_t j) {
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(q + j)));
    return _mm256_madd_epi16(wide, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(v + j)));
  };
  for (int64_t j = 0; j < n; j += 32) a = _mm256_add_epi32(a, term(j)), b = _mm256_add_epi32(b, term(j + 16));
  int32_t lanes[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), _mm256_add_epi32(a, b));
  for (int32_t lane : lanes) sum += lane;
#else
  for (int64_t j = 0; j < n; ++j) sum += int32_t(q[j]) * int32_t(v[j]);
#endif
  return sum;
}

// Dense rows rounded to whole numbers q of a unit: linsep.rows.int8_screen. None if it has no rows.
struct Int8Screen {
  Matrix<const int8_t> Q;
  Vector<const double> unit, error, length;

  void require_agreement(int64_t n, int64_t d) const {
    if (Q.data == nullptr) return;
    require(Q.shape[0] == n && unit.shape[0] == n && error.shape[0] == n && length.shape[0] == n, "the screen must be of these rows");
    require(Q.shape[1] >= d && Q.shape[1] % 32 == 0 && Q.shape[1] < 1 << 24, "a row of the screen must be filled up to a multiple of 32");
  }
  // No row is settled by weights whose largest is no ordinary number: the norm is infinite.
  template <class W> void round(const W* w, int64_t d, WholeWeights& rounded) const {
    if (Q.data == nullptr) return;
    rounded.v.resize(size_t(Q.shape[1]));
    const double largest = double(largest_magnitude(w, d)), most = std::min(32767.0, std::floor(2147483647.0 / (127.0 * double(d))));
    rounded.norm = std::numeric_limits<double>::infinity();
    if (!(1e-30 < largest && largest < 1e30)) return;
    rounded.norm = 1.0001 * std::sqrt(inner_in<double>(w, w, d));
    rounded.unit = largest / most;
    rounded.off = 0.51 * rounded.unit * std::sqrt(double(d));
    const W scale = W(most / largest);
    for (int64_t j = 0; j < d; ++j) rounded.v[size_t(j)] = int16_t(int32_t(std::nearbyint(w[j] * scale)));
  }
  // Whether row i is right, whatever the digits that the screen lacks.
  template <class Rule> bool settles(Rule rule, int64_t i, double y, const WholeWeights& w, double b) const {
    if (Q.data == nullptr) return false;
    const double z = y * (unit[i] * w.unit * double(whole_product(Q.row(i), w.v.data(), Q.shape[1])) + b);
    return !rule.wrong(z - error[i] * w.norm - length[i] * w.off - 1e-15 * std::fabs(b), y);
  }
};
}  // namespace linsep

namespace nanobind::detail {
template <> struct type_caster<linsep::Int8Screen> {
  NB_TYPE_CASTER(linsep::Int8Screen, const_name("Int8Screen"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* given = source.ptr();
    value = {};
    if (!PyTuple_Check(given)) return false;
    if (PyTuple_GET_SIZE(given) == 0) return true;
    return PyTuple_GET_SIZE(given) == 4 && linsep::read_array(PyTuple_GET_ITEM(given, 0), value.Q) &&
           linsep::read_array(PyTuple_GET_ITEM(given, 1), value.unit) && linsep::read_array(PyTuple_GET_ITEM(given, 2), value.error) &&
           linsep::read_array(PyTuple_GET_ITEM(given, 3), value.length);
  }
  static handle from_cpp(const linsep::Int8Screen&, rv_policy, cleanup_list*) noexcept = delete;
};
}  // namespace nanobind::detail
