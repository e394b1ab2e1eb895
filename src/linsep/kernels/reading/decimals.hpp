// Decimal numbers in text, as the nearest float.
//
// m · 10^e with m < 2^53 and |e| ≤ 22 is one exact product or quotient (Clinger 1990). Other numbers of at most
// 19 digits take one or two products with a 128-bit power of ten, which leaves no doubt about the rounding except
// in rare cases that are recognised (Lemire 2021, "Number parsing at a gigabyte per second"). Those, and longer
// numbers, are Hard: left to Python's `float`.
#pragma once
#include <cstdint>
#include <cstring>

#include "arrays.hpp"

namespace linsep {
enum Kind { Fine, Hard, Bad };

constexpr int LOWEST = -342, HIGHEST = 308;  // powers of ten that a float of 19 digits can need
using Powers = Matrix<const uint64_t>;       // the 128 leading bits of each, cut off: low and high half
constexpr int MARGIN = 24;                   // bytes that must follow whatever is read

constexpr uint64_t SHIFTS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
constexpr double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline uint64_t high_product(uint64_t a, uint64_t b) { return uint64_t((unsigned __int128)(a) * b >> 64); }
inline bool digit(uint8_t c) { return uint8_t(c - '0') <= 9; }

// The float nearest to m · 10^e; m is not zero and has at most 19 digits. The product's mantissa has 54 bits, one
// to round by; its error is below one unit of the last of 128 bits.
inline Kind nearest(uint64_t m, int64_t e, const Powers& powers, double& value) {
  if (e < LOWEST || e > HIGHEST) return Hard;
  const int zeros = __builtin_clzll(m);
  m <<= zeros;
  int64_t exponent = ((217706 * e) >> 16) + 64 + 1023 - zeros;  // 217706/2^16 ≈ log₂ 10
  const uint64_t* power = powers.row(e - LOWEST);
  uint64_t high = high_product(m, power[1]), low = m * power[1];
  if ((high & 0x1FF) == 0x1FF && low + m < m) {  // the cut-off part might carry
    const uint64_t more = high_product(m, power[0]), least = m * power[0], merged = low + more;
    high += merged < low;
    if ((high & 0x1FF) == 0x1FF && merged == ~uint64_t(0) && least + m < m) return Hard;
    low = merged;
  }
  const uint64_t top = high >> 63;
  uint64_t mantissa = high >> (top + 9);
  exponent -= 1 - int64_t(top);
  if (low == 0 && (high & 0x1FF) == 0 && (mantissa & 3) == 1) return Hard;  // might be half-way between two floats
  mantissa += mantissa & 1;
  mantissa >>= 1;
  if (mantissa >> 53) {
    mantissa >>= 1;
    exponent += 1;
  }
  if (exponent < 1 || exponent >= 0x7FF) return Hard;  // below the normal floats, or above them
  const uint64_t bits = uint64_t(exponent) << 52 | (mantissa & ((uint64_t(1) << 52) - 1));
  std::memcpy(&value, &bits, 8);
  return Fine;
}

// Eight bytes, the first one lowest.
inline uint64_t eight(const uint8_t* p) {
  uint64_t t;
  std::memcpy(&t, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  t = __builtin_bswap64(t);
#endif
  return t;
}

// The digits from p on, eight at most: how many they are, and the number they write. A byte that is not a digit
// exceeds 9 once the sign "0" is taken off, which the sum with 0x76 shows in its highest bit; the digits before it
// are moved to the upper end, where they are read in pairs, fours and eights.
inline int digits(const uint8_t* p, uint64_t& number) {
  uint64_t t = eight(p) ^ 0x3030303030303030;
  const uint64_t other = ((t + 0x7676767676767676) | t) & 0x8080808080808080;
  int count = 8;
  number = 0;
  if (other != 0) {
    count = __builtin_ctzll(other) >> 3;
    if (count == 0) return 0;
    t <<= (8 - count) * 8;
  }
  t = t * 10 + (t >> 8);
  t = (t & 0x000000FF000000FF) * (100 + (uint64_t(1000000) << 32)) + ((t >> 16) & 0x000000FF000000FF) * (1 + (uint64_t(10000) << 32));
  number = t >> 32;
  return count;
}

// m ← the digits from p on behind those it has; p moves past them.
inline void more_digits(const uint8_t*& p, uint64_t& m) {
  for (int count = 8; count == 8; p += count) {
    uint64_t run;
    count = digits(p, run);
    m = m * SHIFTS[count] + run;
  }
}

// Reads the number at p, which moves behind it. A byte that is no part of a number must follow, and MARGIN more.
inline Kind decimal(const uint8_t*& p, const Powers& powers, double& value) {
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  uint64_t m = 0;
  const uint8_t* first = p;
  while (*p == '0') ++p;  // leading zeros are no digits
  const uint8_t* start = p;
  if (digit(*p)) more_digits(p, m);
  int64_t length = p - start, seen = p - first, e = 0;
  if (*p == '.') {
    const uint8_t* point = ++p;
    if (length == 0)
      while (*p == '0') ++p;
    start = p;
    more_digits(p, m);
    length += p - start;
    seen += p - point;
    e = -(p - point);
  }
  if (seen == 0) return Bad;
  if (*p == 'e' || *p == 'E') {
    const bool down = *++p == '-';
    if (down || *p == '+') ++p;
    if (!digit(*p)) return Bad;
    int64_t power = 0;
    for (; digit(*p); ++p)
      if (power < 100000) power = power * 10 + (*p - '0');
    e += down ? -power : power;
  }
  if (length > 19) return Hard;
  if (m == 0) value = 0.0;
  else if (m < uint64_t(1) << 53 && -22 <= e && e <= 22) value = e >= 0 ? double(m) * TENS[e] : double(m) / TENS[-e];
  else if (nearest(m, e, powers, value) == Hard) return Hard;
  if (negative) value = -value;
  return Fine;
}
}  // namespace linsep
