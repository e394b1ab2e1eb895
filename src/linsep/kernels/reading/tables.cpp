// Columns of a table as rows, sums of columns with gaps, and numbers for labels.
#include <cmath>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "vectors.hpp"

namespace linsep {
// One column of a table: cells that are numbers of one of three types, or codes of texts. Its features begin at
// `first`; a gap in numbers becomes `fill`, and of a text the feature is first + places[code], if that is not below 0.
struct Column {
  Vector<const double> floats;
  Vector<const int64_t> longs;
  Vector<const int32_t> codes, places;
  bool text = false;
  int64_t n = 0, first = 0;
  double fill = 0.0;

  double number(int64_t i) const {
    return floats.data != nullptr ? floats[i] : longs.data != nullptr ? double(longs[i]) : double(codes[i]);
  }
  // The feature of a text, -1 for none
  int64_t place(int64_t i) const {
    const int32_t at = codes[i] >= 0 ? places[codes[i]] : -1;
    return at >= 0 ? first + at : -1;
  }
};
struct Columns {
  std::vector<Column> all;
};

}  // namespace linsep

namespace nanobind::detail {
// A list of (cells, first, fill, places or None).
template <> struct type_caster<linsep::Columns> {
  NB_TYPE_CASTER(linsep::Columns, const_name("list"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* given = source.ptr();
    if (!PyList_Check(given)) return false;
    value.all.resize(size_t(PyList_GET_SIZE(given)));
    for (size_t j = 0; j < value.all.size(); ++j) {
      PyObject* one = PyList_GET_ITEM(given, Py_ssize_t(j));
      if (!PyTuple_Check(one) || PyTuple_GET_SIZE(one) != 4 || !read(one, value.all[j])) return false;
    }
    return true;
  }
  static bool read(PyObject* one, linsep::Column& c) noexcept {
    PyObject *cells = PyTuple_GET_ITEM(one, 0), *places = PyTuple_GET_ITEM(one, 3);
    c = linsep::Column{};
    c.first = PyLong_AsLongLong(PyTuple_GET_ITEM(one, 1));
    c.fill = PyFloat_AsDouble(PyTuple_GET_ITEM(one, 2));
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    c.text = places != Py_None;
    if (linsep::read_array(cells, c.codes)) c.n = c.codes.shape[0];
    else if (c.text) return false;
    else if (linsep::read_array(cells, c.floats)) c.n = c.floats.shape[0];
    else if (linsep::read_array(cells, c.longs)) c.n = c.longs.shape[0];
    else return false;
    return !c.text || linsep::read_array(places, c.places);
  }
  static handle from_cpp(const linsep::Columns&, rv_policy, cleanup_list*) noexcept = delete;
};
}  // namespace nanobind::detail

namespace linsep {
// Refuses columns of different lengths and features beyond the width. Returns whether there are texts.
static bool require_columns(const Columns& columns, int64_t n, int64_t width) {
  bool texts = false;
  for (const Column& c : columns.all) {
    require(c.n == n, "columns must have a cell for each row");
    require(0 <= c.first && c.first < width + int64_t(c.text), "there is no such feature");
    if (!c.text) continue;
    texts = true;
    int64_t most_code = -1, most_place = -1;
    for (int64_t i = 0; i < n; ++i) most_code = most_code > c.codes[i] ? most_code : c.codes[i];
    for (int64_t k = 0; k < c.places.shape[0]; ++k) most_place = most_place > c.places[k] ? most_place : c.places[k];
    require(most_code < c.places.shape[0], "a code has no place");
    require(c.first + most_place < width, "there is no such feature");
  }
  return texts;
}

// The cells begin..end of one column as numbers in the features of X; whether one is a NaN or an infinity.
static bool turn_floats(const Column& c, int64_t begin, int64_t end, const Matrix<double>& X) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double* cells = c.floats.data;
  for (int64_t i = end; i < end + (end - begin) && i < c.n; i += 8) __builtin_prefetch(cells + i);  // the next tile
  bool odd = false;
  for (int64_t i = begin; i < end; ++i) odd |= !(std::abs(cells[i]) < infinity);
  for (int64_t i = begin; i < end; ++i) X(i, c.first) = cells[i] == cells[i] ? cells[i] : c.fill;
  return odd;
}

// The texts begin..end of one column as ones in the features of X.
static void turn_texts(const Column& c, int64_t begin, int64_t end, const Matrix<double>& X) {
  const int32_t *codes = c.codes.data, *places = c.places.data;
  double* x = X.row(begin) + c.first;
  for (int64_t i = begin; i < end; ++i, x += X.shape[1]) {
    const int32_t place = codes[i] >= 0 ? places[codes[i]] : -1;
    if (place >= 0) x[place] = 1.0;
  }
}

// Columns as dense rows X, a tile of rows at a time: what is written stays in the first cache. Of a column of texts
// one feature is 1, the others are 0. oddⱼ = 1 says that column j has a NaN or an infinity.
static void dense(const Columns& columns, Vector<int64_t> odd, Matrix<double> X) {
  constexpr int64_t TILE = 32;
  const int64_t n = X.shape[0], width = X.shape[1];
  require(odd.shape[0] == int64_t(columns.all.size()), "odd must have a number for each column");
  const bool texts = require_columns(columns, n, width);
  for (int64_t begin = 0; begin < n; begin += TILE) {
    const int64_t end = begin + TILE < n ? begin + TILE : n;
    if (texts)
      for (double* x = X.row(begin); x < X.row(end); ++x) *x = 0.0;
    int64_t j = 0;
    for (const Column& c : columns.all) {
      if (c.text) {
        turn_texts(c, begin, end, X);
      } else if (c.longs.data != nullptr) {
        for (int64_t i = begin; i < end; ++i) X(i, c.first) = double(c.longs[i]);
      } else if (c.codes.data != nullptr) {
        for (int64_t i = begin; i < end; ++i) X(i, c.first) = double(c.codes[i]);
      } else if (turn_floats(c, begin, end, X)) {
        odd[j] = 1;
      }
      ++j;
    }
  }
}

// Columns as sparse rows; ends[i] is where row i ends. Returns the entries.
static int64_t sparse(const Columns& columns, Vector<int64_t> odd, Vector<double> values, Vector<int32_t> places,
                      Vector<int32_t> ends) {
  const int64_t n = ends.shape[0], most = n * int64_t(columns.all.size());
  require(odd.shape[0] == int64_t(columns.all.size()), "odd must have a number for each column");
  require(values.shape[0] >= most && places.shape[0] >= most, "there must be room for an entry in each cell");
  require(most <= std::numeric_limits<int32_t>::max(), "there are more entries than 32 bits can count");
  require_columns(columns, n, std::numeric_limits<int32_t>::max());
  int64_t entry = 0;
  for (int64_t i = 0; i < n; ++i) {
    int64_t j = 0;
    for (const Column& c : columns.all) {
      double x = c.text ? 1.0 : c.number(i);
      const int64_t place = c.text ? c.place(i) : c.first;
      if (!(std::abs(x) < std::numeric_limits<double>::infinity())) {
        odd[j] = 1;
        x = x == x ? x : c.fill;
      }
      if (place >= 0) {
        values[entry] = x;
        places[entry++] = int32_t(place);
      }
      ++j;
    }
    ends[i] = int32_t(entry);
  }
  return entry;
}

// totalⱼ ← totalⱼ + Σᵢ xᵢⱼ over rows in which it is there, in row order; countⱼ counts them
static void add_up(Matrix<const double> X, Vector<double> total, Vector<int64_t> count) {
  const int64_t n = X.shape[0], d = X.shape[1];
  require(total.shape[0] == d && count.shape[0] == d, "total and count must have a number for each column");
  if (d < 4) {  // one column after the other, its sum in a register: twice as fast
    for (int64_t j = 0; j < d; ++j) {
      double s = total[j];
      int64_t met = 0;
      for (const double* x = X.data + j; x < X.data + n * d; x += d) {
        s += *x == *x ? *x : 0.0;
        met += *x == *x;
      }
      total[j] = s;
      count[j] += met;
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const double* x = X.row(i);
    for (int64_t j = 0; j < d; ++j) {
      const bool there = x[j] == x[j];
      total[j] += there ? x[j] : 0.0;
      count[j] += there;
    }
  }
}

// xᵢⱼ ← meansⱼ where it is not there
static void fill(Matrix<double> X, Vector<const double> means) {
  const int64_t d = X.shape[1];
  require(means.shape[0] == d, "means must have a number for each column");
  for (int64_t i = 0; i < X.shape[0]; ++i)
    for (int64_t j = 0; j < d; ++j)
      if (X(i, j) != X(i, j)) X(i, j) = means[j];
}

// Σ x²: finite only if every x is
template <class T> static T sum_of_squares(Vector<const T> x) { return inner(x.data, x.data, x.shape[0]); }

// codesᵢ ← the place of label i among those that occur; placesₖ ← that of low + k, plus one. `places` is zero before,
// and where a number does not occur also after.
static void number_integers(Vector<const int64_t> labels, int64_t low, Vector<int32_t> places, Vector<int32_t> codes) {
  const int64_t n = labels.shape[0], width = places.shape[0];
  require(codes.shape[0] == n, "codes must have a number for each label");
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t k = uint64_t(labels[i]) - uint64_t(low);
    require(k < uint64_t(width), "places must reach from the least label to the largest");
    places[int64_t(k)] = 1;
  }
  int32_t seen = 0;
  for (int64_t k = 0; k < width; ++k)
    if (places[k] > 0) places[k] = ++seen;
  for (int64_t i = 0; i < n; ++i) codes[i] = places[int64_t(uint64_t(labels[i]) - uint64_t(low))] - 1;
}

void bind_tables(nb::module_ m) {
  def(m, "dense", dense, "Columns as dense rows; says which have a NaN or an infinity.");
  def(m, "sparse", sparse, "Columns as sparse rows; returns the entries.");
  def(m, "add_up", add_up, "Sums of columns with gaps, in row order.");
  def(m, "fill", fill, "Gaps become means.");
  def(m, "sum_of_squares", sum_of_squares<double>, "Σ x²");
  def(m, "sum_of_squares", sum_of_squares<float>, "Σ x²");
  def(m, "number_integers", number_integers, "Labels by their places among those that occur.");
}
}  // namespace linsep
