// Products with rows x̃ = (x, 1), four rows at a time, and Σ D x̃x̃ᵀ.
#pragma once
#include <algorithm>

#include "rows.hpp"
#include "vectors.hpp"

namespace linsep {
constexpr int64_t FOUR = 4;
using Four = Vec<double>;

// s_i ← ⟨w, xᵢ⟩ + b of four dense rows side by side, each in four lanes
template <class T> inline void four_dots(const Dense<T>& rows, int64_t i, const double* w, double b, double* s) {
  double lanes[FOUR][FOUR] = {};
  const T* x[FOUR] = {rows.row(i), rows.row(i + 1), rows.row(i + 2), rows.row(i + 3)};
  int64_t j = 0;
  for (; j + FOUR <= rows.d; j += FOUR)
    for (int r = 0; r < FOUR; ++r)
      for (int l = 0; l < FOUR; ++l) lanes[r][l] = fused(double(x[r][j + l]), w[j + l], lanes[r][l]);
  for (int l = 0; j + l < rows.d; ++l)
    for (int r = 0; r < FOUR; ++r) lanes[r][l] = fused(double(x[r][j + l]), w[j + l], lanes[r][l]);
  for (int r = 0; r < FOUR; ++r) s[r] = ((lanes[r][0] + lanes[r][2]) + (lanes[r][1] + lanes[r][3])) + b;
}

// v ← v + Σ aᵣxᵣ of the four dense rows whose numbers are `at`
template <class T> inline void add_four(const Dense<T>& rows, const int64_t* at, const double* a, double* v) {
  const T *p = rows.row(at[0]), *q = rows.row(at[1]), *r = rows.row(at[2]), *s = rows.row(at[3]);
  const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
  for (int64_t j = 0; j < rows.d; ++j)
    v[j] = fused(a3, double(s[j]), fused(a2, double(r[j]), fused(a1, double(q[j]), fused(a0, double(p[j]), v[j]))));
}

constexpr int64_t PACKED = 32, HIGH = 4, WIDE = 8;  // rows of a group; rows and columns of a tile
inline int64_t in_tiles(int64_t size) { return (size + WIDE - 1) / WIDE * WIDE; }

// H ← H + AᵀB over a group of rows, in tiles that stay in registers; its lower triangle, and what else tiles hold.
// A lies in strips of HIGH columns and B in strips of WIDE ones, each row of a strip after the other.
static void add_tiles(const double* A, const double* B, int64_t rows, int64_t width, double* H) {
  for (int64_t i = 0; i < width; i += HIGH)
    for (int64_t j = 0; j < i + HIGH; j += WIDE) {
      double* to = H + i * width + j;
      const double *a = A + i * PACKED, *b = B + j * PACKED;
      Four s[HIGH], t[HIGH];
      for (int p = 0; p < HIGH; ++p) s[p] = Four::load(to + p * width), t[p] = Four::load(to + p * width + 4);
      for (int64_t r = 0; r < rows; ++r, a += HIGH, b += WIDE) {
        const Four x = Four::load(b), y = Four::load(b + 4);
        for (int p = 0; p < HIGH; ++p) {
          const Four z = Four::same(a[p]);
          s[p] = fused(z, x, s[p]), t[p] = fused(z, y, t[p]);
        }
      }
      for (int p = 0; p < HIGH; ++p) s[p].store(to + p * width), t[p].store(to + p * width + 4);
    }
}

// Σ Dᵢx̃ᵢx̃ᵢᵀ of dense rows: those with Dᵢ ≠ 0 are written out in float64, some at a time.
template <class T>
static void add_gram(const Dense<T>& rows, const double* D, int64_t size, int64_t width, double* room, double* H) {
  double *A = room, *B = room + PACKED * width;
  int64_t held = 0;
  for (int64_t i = 0; i < rows.n; ++i) {
    if (D[i] != 0.0) {
      const T* x = rows.row(i);
      for (int64_t j = 0; j < size; j += WIDE) {
        double strip[WIDE] = {};
        const int64_t last = std::min(WIDE, rows.d - j);
        for (int64_t l = 0; l < last; ++l) strip[l] = double(x[j + l]);
        if (size > rows.d && j + WIDE >= size) strip[rows.d - j] = 1.0;
        double *b = B + j * PACKED + held * WIDE, *a = A + j * PACKED + held * HIGH;
        for (int l = 0; l < WIDE; ++l) b[l] = strip[l];
        for (int l = 0; l < HIGH; ++l) a[l] = D[i] * strip[l];
        for (int l = 0; l < HIGH; ++l) a[PACKED * HIGH + l] = D[i] * strip[HIGH + l];
      }
      ++held;
    }
    if (held == PACKED || (i + 1 == rows.n && held > 0)) {
      add_tiles(A, B, held, width, H);
      held = 0;
    }
  }
}

// The same of sparse rows: products of their entries, on either side of the diagonal.
template <class T> static void add_gram(const CSR<T>& rows, const double* D, int64_t size, int64_t width, double*, double* H) {
  const int64_t d = rows.d;
  for (int64_t i = 0; i < rows.n; ++i) {
    if (D[i] == 0.0) continue;
    const int64_t first = rows.start[i], last = rows.start[i + 1];
    for (int64_t e = first; e < last; ++e) {
      double* to = H + int64_t(rows.column[e]) * width;
      const double x = D[i] * double(rows.x[e]);
      for (int64_t f = first; f <= e; ++f) to[rows.column[f]] = fused(x, double(rows.x[f]), to[rows.column[f]]);
      if (size > d) H[d * width + rows.column[e]] += x;
    }
    if (size > d) H[d * width + d] += D[i];
  }
}

// H ← both triangles of what `add_gram` summed up: dense rows fill tiles about the lower one, sparse ones either.
inline void unpack(const double* sum, bool sparse, Matrix<double> H) {
  const int64_t size = H.shape[0], width = in_tiles(size);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < i; ++j) H(i, j) = H(j, i) = sum[i * width + j] + (sparse ? sum[j * width + i] : 0.0);
    H(i, i) = sum[i * width + i];
  }
}
}  // namespace linsep
