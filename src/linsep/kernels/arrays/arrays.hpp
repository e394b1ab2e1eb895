// Arrays of the caller as kernels see them: a place in memory and a shape. No copies, no owner.
//
// An argument of another type, another number of dimensions or another order in memory is refused;
// nothing is ever converted. `Vector<const double>` may be read only, `Vector<double>` is written to.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace linsep {
namespace nb = nanobind;

template <class T, int N> struct Array {
  T* data = nullptr;
  int64_t shape[N] = {};

  int64_t size() const {
    int64_t all = 1;
    for (int64_t one : shape) all *= one;
    return all;
  }
  T& operator[](int64_t i) const { return data[i]; }
  T& operator()(int64_t i, int64_t j) const {
    static_assert(N == 2);
    return data[i * shape[1] + j];
  }
  T& operator()(int64_t i, int64_t j, int64_t k) const {
    static_assert(N == 3);
    return data[(i * shape[1] + j) * shape[2] + k];
  }
  T* row(int64_t i) const {
    static_assert(N == 2);
    return data + i * shape[1];
  }
};
template <class T> using Vector = Array<T, 1>;
template <class T> using Matrix = Array<T, 2>;

// Arguments that do not belong together are refused in words, before anything is read.
inline void require(bool holds, const char* wanted) {
  if (!holds) throw std::invalid_argument(wanted);
}

// What an array holds, as signatures tell it.
template <class T> constexpr auto type_name() {
  using nb::detail::const_name;
  constexpr auto bits = const_name<8 * sizeof(T)>();
  if constexpr (std::is_same_v<T, bool>) return const_name("bool");
  else if constexpr (std::is_floating_point_v<T>) return const_name("float") + bits;
  else return const_name<std::is_signed_v<T>>("int", "uint") + bits;
}

// Whether a letter of Python's `struct` module stands for T.
template <class T> bool is_letter(const char* format) {
  using U = std::remove_const_t<T>;
  if (format == nullptr) return std::is_same_v<U, uint8_t>;
  if (*format == '=' || *format == '@' || *format == '<') ++format;
  if (format[0] == 0 || format[1] != 0) return false;
  const char c = format[0];
  if constexpr (std::is_same_v<U, double>) return c == 'd';
  else if constexpr (std::is_same_v<U, float>) return c == 'f';
  else if constexpr (std::is_same_v<U, bool>) return c == '?';
  else {
    const char* letters = std::is_signed_v<U> ? "bhilq" : "BHILQ";
    const size_t sizes[] = {1, 2, 4, sizeof(long), 8};
    for (int k = 0; k < 5; ++k)
      if (c == letters[k]) return sizes[k] == sizeof(U);
    return false;
  }
}

// Fills `array` if `object` is what it must be.
template <class T, int N> bool read_array(PyObject* object, Array<T, N>& array) noexcept {
  Py_buffer view;
  const int wanted = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (std::is_const_v<T> ? 0 : PyBUF_WRITABLE);
  if (PyObject_CheckBuffer(object) == 0) return false;
  if (PyObject_GetBuffer(object, &view, wanted) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool fits = view.ndim == N && view.itemsize == Py_ssize_t(sizeof(T)) && is_letter<T>(view.format);
  if (fits) {
    array.data = static_cast<T*>(view.buf);
    for (int k = 0; k < N; ++k) array.shape[k] = view.shape[k];
  }
  PyBuffer_Release(&view);  // the array itself is held by the caller for as long as the call lasts
  return fits;
}

// Defines a kernel: other threads of Python go on while it runs.
template <class F> void def(nb::module_& module, const char* name, F function, const char* doc = "") {
  module.def(name, function, doc, nb::call_guard<nb::gil_scoped_release>());
}
}  // namespace linsep

namespace nanobind::detail {
template <class T, int N> struct type_caster<linsep::Array<T, N>> {
  using Taken = linsep::Array<T, N>;
  NB_TYPE_CASTER(Taken, const_name<std::is_const_v<T>>("array[", "writable[") + linsep::type_name<std::remove_const_t<T>>() +
                            const_name(", ") + const_name<N>() + const_name("]"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    return linsep::read_array(source.ptr(), value);
  }
  static handle from_cpp(const Taken&, rv_policy, cleanup_list*) noexcept = delete;
};
}  // namespace nanobind::detail
