// Exponentials and logarithms as plain arithmetic: they vectorise, and give the same bytes everywhere.
//
// eᵗ = 2ᵏ eʳ with |r| ≤ ½ log 2 and Taylor's polynomial for eʳ; log(1 + e) = 2 artanh(e/(2 + e)) with its
// series. Right to a few units in the last place.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "sums.hpp"

namespace linsep {
// eᵗ for t ≤ 0; below the smallest normal number it stays there.
template <class T> inline T exp_of_negative(T t) {
  constexpr bool single = sizeof(T) == 4;
  using Bits = std::conditional_t<single, int32_t, int64_t>;
  t = std::max(t, T(single ? -87.0 : -708.0));
  // t log₂e, rounded to a whole k by a constant so large that nothing else fits beside it
  constexpr T whole = single ? T(12582912.0) : T(6755399441055744.0);
  const T placed = fused(t, T(1.4426950408889634), whole), k = placed - whole;
  // log 2 in two parts, the first short enough that its product with k is exact
  T r = fused(-k, T(single ? 0.693359375 : 0.693147180369123816490), t);
  r = fused(-k, T(single ? -2.12194440e-4 : 1.90821492927058770002e-10), r);
  T p = T(1.0 / 6227020800);
  p = fused(p, r, T(1.0 / 479001600));
  p = fused(p, r, T(1.0 / 39916800));
  p = fused(p, r, T(1.0 / 3628800));
  p = fused(p, r, T(1.0 / 362880));
  p = fused(p, r, T(1.0 / 40320));
  p = fused(p, r, T(1.0 / 5040));
  p = fused(p, r, T(1.0 / 720));
  p = fused(p, r, T(1.0 / 120));
  p = fused(p, r, T(1.0 / 24));
  p = fused(p, r, T(1.0 / 6));
  p = fused(p, r, T(0.5));
  p = fused(p, r, T(1));
  p = fused(p, r, T(1));
  Bits bits;
  std::memcpy(&bits, &placed, sizeof(T));
  bits = Bits(std::make_unsigned_t<Bits>(bits + (single ? 127 : 1023)) << (single ? 23 : 52));
  T power;
  std::memcpy(&power, &bits, sizeof(T));
  return p * power;
}

// log(1 + e) for 0 ≤ e ≤ 1
template <class T> inline T log_of_one_plus(T e) {
  const T s = e / (T(2) + e), q = s * s;
  T p = T(1.0 / 33);
  p = fused(p, q, T(1.0 / 31));
  p = fused(p, q, T(1.0 / 29));
  p = fused(p, q, T(1.0 / 27));
  p = fused(p, q, T(1.0 / 25));
  p = fused(p, q, T(1.0 / 23));
  p = fused(p, q, T(1.0 / 21));
  p = fused(p, q, T(1.0 / 19));
  p = fused(p, q, T(1.0 / 17));
  p = fused(p, q, T(1.0 / 15));
  p = fused(p, q, T(1.0 / 13));
  p = fused(p, q, T(1.0 / 11));
  p = fused(p, q, T(1.0 / 9));
  p = fused(p, q, T(1.0 / 7));
  p = fused(p, q, T(1.0 / 5));
  p = fused(p, q, T(1.0 / 3));
  return (s + s) * fused(p, q, T(1));
}

// log x for normal x > 0: x = 2ᵏ m with m about one, and log m = 2 artanh((m − 1)/(m + 1)).
inline double log_of(double x) {
  constexpr int64_t root_half = 0x3fe6a09e667f3bcdLL;  // √½: m lies between it and √2
  int64_t bits;
  std::memcpy(&bits, &x, sizeof(double));
  const int64_t from = bits - root_half + 0x3ff0000000000000LL;
  int64_t exponent = (from >> 52 & 0x7ff) | 0x4330000000000000LL;  // 2⁵² + k + 1023 as a number
  bits -= (from & 0x7ff0000000000000LL) - 0x3ff0000000000000LL;
  double m, k;
  std::memcpy(&m, &bits, sizeof(double));
  std::memcpy(&k, &exponent, sizeof(double));
  k -= 4503599627370496.0 + 1023.0;
  const double s = (m - 1.0) / (m + 1.0), q = s * s;
  double p = 1.0 / 21;
  p = fused(p, q, 1.0 / 19);
  p = fused(p, q, 1.0 / 17);
  p = fused(p, q, 1.0 / 15);
  p = fused(p, q, 1.0 / 13);
  p = fused(p, q, 1.0 / 11);
  p = fused(p, q, 1.0 / 9);
  p = fused(p, q, 1.0 / 7);
  p = fused(p, q, 1.0 / 5);
  p = fused(p, q, 1.0 / 3);
  return fused(k, 0.693147180369123816490, fused(k, 1.90821492927058770002e-10, fused((s + s) * q, p, s + s)));
}
}  // namespace linsep
