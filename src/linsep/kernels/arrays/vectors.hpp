// 32 bytes of numbers in a register. Compilers do not keep a tile of sums there of their own accord: four to ten times slower.
#pragma once
#if defined(__AVX__) && defined(__FMA__)
#include <immintrin.h>
#endif

#include "sums.hpp"

namespace linsep {
template <class T> struct Vec {
  static constexpr int lanes = 32 / sizeof(T);
  T x[lanes];

  static Vec load(const T* a) {
    Vec v;
    for (int l = 0; l < lanes; ++l) v.x[l] = a[l];
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
};
template <class T> inline Vec<T> fused(Vec<T> a, Vec<T> b, Vec<T> c) {
  for (int l = 0; l < Vec<T>::lanes; ++l) c.x[l] = fused(a.x[l], b.x[l], c.x[l]);
  return c;
}

#if defined(__AVX__) && defined(__FMA__)
template <> struct Vec<double> {
  static constexpr int lanes = 4;
  __m256d x = _mm256_setzero_pd();

  static Vec load(const double* a) { return {_mm256_loadu_pd(a)}; }
  static Vec same(double a) { return {_mm256_set1_pd(a)}; }
  void store(double* a) const { _mm256_storeu_pd(a, x); }
  Vec operator+(Vec b) const { return {_mm256_add_pd(x, b.x)}; }
};
template <> struct Vec<float> {
  static constexpr int lanes = 8;
  __m256 x = _mm256_setzero_ps();

  static Vec load(const float* a) { return {_mm256_loadu_ps(a)}; }
  static Vec same(float a) { return {_mm256_set1_ps(a)}; }
  void store(float* a) const { _mm256_storeu_ps(a, x); }
  Vec operator+(Vec b) const { return {_mm256_add_ps(x, b.x)}; }
};
inline Vec<double> fused(Vec<double> a, Vec<double> b, Vec<double> c) { return {_mm256_fmadd_pd(a.x, b.x, c.x)}; }
inline Vec<float> fused(Vec<float> a, Vec<float> b, Vec<float> c) { return {_mm256_fmadd_ps(a.x, b.x, c.x)}; }
#endif
}  // namespace linsep
