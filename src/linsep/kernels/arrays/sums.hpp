// Sums in fixed lanes, added by a fixed tree: the same bytes by every compiler and any number of threads.
#pragma once
#include <cmath>
#include <cstdint>

namespace linsep {
// a b + c, rounded once where the processor does so in one instruction.
template <class T> inline T fused(T a, T b, T c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

constexpr int LANE_BYTES = 128;  // four vectors of 32 bytes: enough to hide the latency of a sum
template <class T> constexpr int LANES = LANE_BYTES / sizeof(T);

// The lanes added in pairs: l and l + half, until one is left.
template <class T> inline T tree(T* lanes) {
  for (int half = LANES<T> / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0];
}

// Σⱼ term(j) for j < n; term j goes to lane j mod LANES.
template <class T, class Term> inline T lane_sum(int64_t n, Term term) {
  T lanes[LANES<T>] = {};
  int64_t j = 0;
  for (; j + LANES<T> <= n; j += LANES<T>)
    for (int l = 0; l < LANES<T>; ++l) lanes[l] += term(j + l);
  for (int l = 0; j + l < n; ++l) lanes[l] += term(j + l);
  return tree(lanes);
}
}  // namespace linsep
