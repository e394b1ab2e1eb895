// Losses ℓ(z) of the margin z = y(⟨w, x⟩ + b). The arithmetic of each is here and nowhere else.
//
//   terms(z)  ℓ(z), −ℓ′(z) and ℓ″(z)
//   exact(z)  the loss that is meant: ℓ itself, or where ℓ is a smoothed one, that with the kink
//   dual(a)   −ℓ*(−a) of the one that is meant: ℓ(z) + az ≥ −ℓ*(−a) for 0 ≤ a ≤ most
//
// In Python they are the named tuples of linsep.train.convex.losses, told by their `kind`; a kernel takes a
// `Loss` and asks `with_loss` for the struct.
#pragma once
#include <limits>

#include "arrays.hpp"
#include "exponentials.hpp"

namespace linsep {
struct Terms {
  double value, multiplier, curvature;
};

// log(1 + e^{−sz})
struct Logistic {
  double scale;
  double most() const { return scale; }
  Terms terms(double z) const {
    const double t = scale * z, tail = exp_of_negative(-std::abs(t)), inverse = 1.0 / (1.0 + tail);
    return {log_of_one_plus(tail) + std::max(0.0, -t), scale * inverse * (t > 0.0 ? tail : 1.0), scale * scale * tail * inverse * inverse};
  }
  double exact(double, const Terms& at) const { return at.value; }
  double dual(double a) const {
    const double u = a / scale, v = 1.0 - u, tiny = 1e-300;
    return -(u * log_of(std::max(u, tiny)) + v * log_of(std::max(v, tiny)));
  }
};

// max(0, m − z)
struct Hinge {
  double margin;
  double most() const { return 1.0; }
  Terms terms(double z) const { return {std::max(0.0, margin - z), z < margin ? 1.0 : 0.0, 0.0}; }
  double exact(double, const Terms& at) const { return at.value; }
  double dual(double a) const { return margin * a; }
};

// max(0, m − z)²
struct SquaredHinge {
  double margin;
  double most() const { return std::numeric_limits<double>::infinity(); }
  Terms terms(double z) const {
    const double lack = std::max(0.0, margin - z);
    return {lack * lack, 2.0 * lack, lack > 0.0 ? 2.0 : 0.0};
  }
  double exact(double, const Terms& at) const { return at.value; }
  double dual(double a) const { return margin * a - 0.25 * a * a; }
};

// max(0, 1 − z), and (1 − z + h)²/4h where |1 − z| < h
struct SmoothedHinge {
  double h;
  double most() const { return 1.0; }
  Terms terms(double z) const {
    const double t = 1.0 - z, in = std::min(2.0 * h, std::max(0.0, t + h));
    return {in * in / (4.0 * h) + std::max(0.0, t - h), in / (2.0 * h), std::abs(t) < h ? 1.0 / (2.0 * h) : 0.0};
  }
  double exact(double z, const Terms&) const { return std::max(0.0, 1.0 - z); }
  double dual(double a) const { return a; }
};

enum class Kind : int { logistic, hinge, squared_hinge, smoothed_hinge };

struct Loss {
  Kind kind;
  double parameter;
};

// Calls act(loss) with the struct of the loss that is meant.
template <class Act> auto with_loss(const Loss& loss, Act act) {
  switch (loss.kind) {
    case Kind::logistic: return act(Logistic{loss.parameter});
    case Kind::hinge: return act(Hinge{loss.parameter});
    case Kind::squared_hinge: return act(SquaredHinge{loss.parameter});
    default: return act(SmoothedHinge{loss.parameter});
  }
}
}  // namespace linsep

namespace nanobind::detail {
template <> struct type_caster<linsep::Loss> {
  NB_TYPE_CASTER(linsep::Loss, const_name("Loss"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* given = source.ptr();
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 1) return false;
    PyObject* kind = PyObject_GetAttrString(given, "kind");
    const long number = kind == nullptr ? -1 : PyLong_AsLong(kind);
    Py_XDECREF(kind);
    const double parameter = PyFloat_AsDouble(PyTuple_GET_ITEM(given, 0));
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    if (number < 0 || number > int(linsep::Kind::smoothed_hinge)) return false;
    value = {linsep::Kind(number), parameter};
    return true;
  }
  static handle from_cpp(const linsep::Loss&, rv_policy, cleanup_list*) noexcept = delete;
};
}  // namespace nanobind::detail
