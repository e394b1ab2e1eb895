// Correction rules of the perceptron family: linsep.train.online.rules.
//
// A rule sees the signed score z = y(⟨w, x⟩ + b) of a row and says whether the row must be corrected (`wrong`, which
// is also told the sign y), by how much of yx (`size`, of z and ‖(x, bias)‖²), and what the row costs (`loss`).
// With several classes in Kesler's construct every difference s_c − s_j between the score of the true class and a
// rival's is asked about, and `spread` shares the correction among the classes: aⱼ receives how much of x. While
// the rivals are gone through, the scores move by `pace` of a step, from 0 to 1.
#pragma once
#include <algorithm>

#include "arrays.hpp"

namespace linsep {
// The perceptron: a row at or below the margin moves the weights by η yx. Positive and negative rows have margins of
// their own, so that a score of exactly 0 may be right for one of them.
struct Rosenblatt {
  double eta, positive, negative;

  bool wrong(double z, double y) const { return !(z > (y > 0 ? positive : negative)); }
  double size(double, double) const { return eta; }
  double loss(double z) const { return std::max(0.0, negative - z); }
  int64_t spread(double* s, int64_t c, int64_t classes, double square, double pace, double* a) const {
    int64_t corrections = 0;
    const double own = eta * pace * square;  // ⟨w_c + ηx, x⟩ = s_c + η‖x‖²
    for (int64_t j = 0; j < classes; ++j) {
      if (j == c || !wrong(s[c] - s[j], c < j ? 1 : -1)) continue;  // of equal scores the first wins
      a[c] += eta;
      a[j] -= eta;
      s[c] += own;
      s[j] -= own;
      ++corrections;
    }
    return corrections;
  }
};

// The smallest step that clears margin one, at most `most` (PA-I) or softened by `soft` = 1/(2C) (PA-II; Crammer et
// al., 2006): τ = min(most, (1 − z)/(‖x‖² + soft)). Against the strongest rival x counts twice.
struct PassiveAggressive {
  double most, soft;

  bool wrong(double z, double) const { return !(z >= 1); }
  double size(double z, double square) const {
    return square + soft > 0 ? std::min(most, (1 - z) / (square + soft)) : 0;
  }
  double loss(double z) const { return std::max(0.0, 1 - z); }
  int64_t spread(double* s, int64_t c, int64_t classes, double square, double, double* a) const {
    int64_t r = c == 0 ? 1 : 0;
    for (int64_t j = 0; j < classes; ++j)
      if (j != c && s[j] > s[r]) r = j;
    const double tau = size(s[c] - s[r], 2 * square);
    a[c] += tau;
    a[r] -= tau;
    return 1;
  }
};

// Fills the numbers of a rule from a named tuple of as many.
inline bool read_numbers(PyObject* given, double* numbers, int n) noexcept {
  if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != n) return false;
  for (int k = 0; k < n; ++k) {
    numbers[k] = PyFloat_AsDouble(PyTuple_GET_ITEM(given, k));
    if (numbers[k] == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
  }
  return true;
}
}  // namespace linsep

namespace nanobind::detail {
#define LINSEP_RULE(Rule)                                                                      \
  template <> struct type_caster<linsep::Rule> {                                               \
    NB_TYPE_CASTER(linsep::Rule, const_name(#Rule))                                            \
    bool from_python(handle source, uint8_t, cleanup_list*) noexcept {                         \
      return linsep::read_numbers(source.ptr(), reinterpret_cast<double*>(&value),             \
                                  int(sizeof(linsep::Rule) / sizeof(double)));                 \
    }                                                                                          \
    static handle from_cpp(const linsep::Rule&, rv_policy, cleanup_list*) noexcept = delete;   \
  };
LINSEP_RULE(Rosenblatt)
LINSEP_RULE(PassiveAggressive)
#undef LINSEP_RULE
}  // namespace nanobind::detail
