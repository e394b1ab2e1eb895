// What arrays.hpp takes of nanobind, without Python: kernels compiled for a program of their own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

using Py_ssize_t = std::ptrdiff_t;
struct PyObject {};
struct Py_buffer {
  void* buf;
  int ndim;
  Py_ssize_t itemsize;
  const char* format;
  Py_ssize_t* shape;
};
constexpr int PyBUF_FORMAT = 0, PyBUF_C_CONTIGUOUS = 0, PyBUF_WRITABLE = 0;
inline int PyObject_CheckBuffer(PyObject*) { return 0; }
inline int PyObject_GetBuffer(PyObject*, Py_buffer*, int) { return -1; }
inline void PyErr_Clear() {}
inline void PyBuffer_Release(Py_buffer*) {}

namespace nanobind {
struct gil_scoped_release {};
template <class T> struct call_guard {};
struct module_ {
  template <class... A> void def(A...) {}
};
struct handle {
  PyObject* ptr() const { return nullptr; }
};
enum class rv_policy {};
namespace detail {
struct cleanup_list;
struct text {};
constexpr text operator+(text, text) { return {}; }
constexpr text const_name(const char*) { return {}; }
template <auto N> constexpr text const_name() { return {}; }
template <bool B> constexpr text const_name(const char*, const char*) { return {}; }
template <class T> struct type_caster;
}  // namespace detail
}  // namespace nanobind
#define NB_TYPE_CASTER(T, name) T value;
