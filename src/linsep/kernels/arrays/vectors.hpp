// 32 bytes of numbers in a register. Compilers do not keep a tile of sums there of their own accord: four to ten times slower.
#pragma once
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define LINSEP_AVX2
#endif

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "sums.hpp"

namespace linsep {
template <class T> struct Vec {
  static constexpr int lanes = 32 / sizeof(T);
  T x[lanes] = {};

  template <class X> static Vec load(const X* a) {
    Vec v;
    for (int l = 0; l < lanes; ++l) v.x[l] = T(a[l]);
    return v;
  }
  static Vec same(T a) {
    Vec v;
    for (int l = 0; l < lanes; ++l) v.x[l] = a;
    return v;
  }
  void store(T* a) const {
    for (int l = 0; l < lanes; ++l) a[l] = x[l];
  }
  Vec operator+(Vec b) const {
    for (int l = 0; l < lanes; ++l) b.x[l] += x[l];
    return b;
  }
  // Lanes l and l + half added, until one is left
  T total() const {
    T sums[lanes];
    store(sums);
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) sums[l] += sums[l + half];
    return sums[0];
  }
};
template <class T> inline Vec<T> fused(Vec<T> a, Vec<T> b, Vec<T> c) {
  for (int l = 0; l < Vec<T>::lanes; ++l) c.x[l] = fused(a.x[l], b.x[l], c.x[l]);
  return c;
}

#ifdef LINSEP_AVX2
template <> struct Vec<double> {
  static constexpr int lanes = 4;
  __m256d x = _mm256_setzero_pd();

  static Vec load(const double* a) { return {_mm256_loadu_pd(a)}; }
  static Vec load(const float* a) { return {_mm256_cvtps_pd(_mm_loadu_ps(a))}; }
  static Vec same(double a) { return {_mm256_set1_pd(a)}; }
  void store(double* a) const { _mm256_storeu_pd(a, x); }
  Vec operator+(Vec b) const { return {_mm256_add_pd(x, b.x)}; }
  double total() const {
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
};
template <> struct Vec<float> {
  static constexpr int lanes = 8;
  __m256 x = _mm256_setzero_ps();

  static Vec load(const float* a) { return {_mm256_loadu_ps(a)}; }
  static Vec load(const int8_t* a) {
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(a))))};
  }
  static Vec same(float a) { return {_mm256_set1_ps(a)}; }
  void store(float* a) const { _mm256_storeu_ps(a, x); }
  Vec operator+(Vec b) const { return {_mm256_add_ps(x, b.x)}; }
  float total() const {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
};
inline Vec<double> fused(Vec<double> a, Vec<double> b, Vec<double> c) { return {_mm256_fmadd_pd(a.x, b.x, c.x)}; }
inline Vec<float> fused(Vec<float> a, Vec<float> b, Vec<float> c) { return {_mm256_fmadd_ps(a.x, b.x, c.x)}; }
#endif

// The first `some` numbers, and zeros.
template <class V, class X> inline V load_some(const X* a, int64_t some) {
#ifdef LINSEP_AVX2
  static const int32_t ONES[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  const auto mask = [some](int64_t width) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ONES + 8 - some * width)); };
  if constexpr (std::is_same_v<V, Vec<float>> && std::is_same_v<X, float>) return {_mm256_maskload_ps(a, mask(1))};
  if constexpr (std::is_same_v<V, Vec<double>> && std::is_same_v<X, double>) return {_mm256_maskload_pd(a, mask(2))};
#endif
  X padded[V::lanes] = {};
  for (int64_t l = 0; l < some; ++l) padded[l] = a[l];
  return V::load(padded);
}

// ⟨x, w⟩ in type S, in the lanes of `lane_sum` and by its tree.
template <class S, class X, class W> inline S inner_in(const X* x, const W* w, int64_t n) {
  using V = Vec<S>;
  constexpr int N = V::lanes;
  V s0, s1, s2, s3;
  const auto term = [x, w](int64_t j, V s) { return fused(V::load(x + j), V::load(w + j), s); };
  int64_t j = 0;
  for (; j + 4 * N <= n; j += 4 * N) {
    s0 = term(j, s0), s1 = term(j + N, s1);
    s2 = term(j + 2 * N, s2), s3 = term(j + 3 * N, s3);
  }
  const uint64_t left = uint64_t(n - j), whole = left / N;
  if (whole > 0) s0 = term(j, s0);
  if (whole > 1) s1 = term(j + N, s1);
  if (whole > 2) s2 = term(j + 2 * N, s2);
  if (left % N > 0) {
    j += int64_t(whole) * N;
    const V a = load_some<V>(x + j, n - j), b = load_some<V>(w + j, n - j);
    if (whole == 0) s0 = fused(a, b, s0);
    if (whole == 1) s1 = fused(a, b, s1);
    if (whole == 2) s2 = fused(a, b, s2);
    if (whole == 3) s3 = fused(a, b, s3);
  }
  return ((s0 + s2) + (s1 + s3)).total();
}
template <class X, class W> inline W inner(const X* x, const W* w, int64_t n) { return inner_in<W>(x, w, n); }

// max |xⱼ|, NaN and ∞ above all: magnitudes are ordered as their bits are
template <class T> inline T largest_magnitude(const T* x, int64_t d) {
  using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  Bits most = 0;
  for (int64_t j = 0; j < d; ++j) {
    Bits bits;
    std::memcpy(&bits, x + j, sizeof(T));
    most = std::max(most, bits & std::numeric_limits<Bits>::max());
  }
  T largest;
  std::memcpy(&largest, &most, sizeof(T));
  return largest;
}

// w ← w + a x
template <class X, class W> inline void accumulate(const X* x, W a, W* w, int64_t n) {
  for (int64_t j = 0; j < n; ++j) w[j] = fused(a, W(x[j]), w[j]);
}
}  // namespace linsep
