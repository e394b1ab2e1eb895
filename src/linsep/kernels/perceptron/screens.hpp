// Rounded copies whose scores settle most rows without a look at all digits. A screen never changes an answer: where
// its error bound leaves a doubt, it says so.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "online.hpp"

namespace linsep {
// Dense rows rounded to whole numbers q of a unit: linsep.rows.int8_screen. None if it has no rows.
struct Int8Screen {
  Matrix<const int8_t> Q;
  Vector<const double> unit, error;

  void require_agreement(int64_t n, int64_t d) const {
    if (Q.data == nullptr) return;
    require(Q.shape[0] == n && Q.shape[1] == d && unit.shape[0] == n && error.shape[0] == n, "the screen must be of these rows");
  }
  // w in float32, in which whole numbers become floats fastest. Returns at least ‖w‖, or infinity where scores could
  // leave the range of float32.
  template <class W> double round(const W* w, int64_t d, std::vector<float>& rounded) const {
    if (Q.data == nullptr) return 0;
    rounded.assign(w, w + d);
    const double norm = 1.0001 * std::sqrt(inner_in<double>(w, w, d));
    return norm < 1e30 ? std::max(norm, 1e-30) : std::numeric_limits<double>::infinity();
  }
  // Whether row i is right, whatever the digits that the screen lacks: |⟨w, x⟩ − ⟨w, x rounded⟩| ≤ ‖w‖ error.
  template <class Rule> bool settles(Rule rule, int64_t i, double y, const std::vector<float>& w, double b, double norm) const {
    if (Q.data == nullptr) return false;
    const double z = y * (unit[i] * double(inner(Q.row(i), w.data(), Q.shape[1])) + b);
    return !rule.wrong(z - error[i] * norm - 1e-15 * std::fabs(b), y);
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
    return PyTuple_GET_SIZE(given) == 3 && linsep::read_array(PyTuple_GET_ITEM(given, 0), value.Q) &&
           linsep::read_array(PyTuple_GET_ITEM(given, 1), value.unit) && linsep::read_array(PyTuple_GET_ITEM(given, 2), value.error);
  }
  static handle from_cpp(const linsep::Int8Screen&, rv_policy, cleanup_list*) noexcept = delete;
};
}  // namespace nanobind::detail
