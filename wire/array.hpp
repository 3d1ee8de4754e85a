#pragma once

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wire/error.hpp"
#include "wire/shared_bytes.hpp"

namespace px {

/// What an array can hold: the arithmetic types, and complex numbers of them.
template <class T>
concept ArrayElement = std::is_arithmetic_v<T> || std::same_as<T, std::complex<float>> ||
                       std::same_as<T, std::complex<double>>;

/// The name of an element type, as NumPy's array interface spells it: byte order ('<', or '|' where
/// there is none), kind (b bool, i and u integers, f floats, c complex), bytes. `double` is "<f8".
template <ArrayElement T>
std::string dtype_of() {
  if constexpr (std::same_as<T, bool>)
    return "|b1";
  else {
    const char kind = std::is_floating_point_v<T> ? 'f'
                      : !std::is_arithmetic_v<T>  ? 'c'
                      : std::is_signed_v<T>       ? 'i'
                                                  : 'u';
    return (sizeof(T) == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(sizeof(T));
  }
}

/// Bytes of one element of this dtype, e.g. 8 of "<f8", 12 of "<U3".
/// errors  bad_input: not a dtype of fixed size in the byte order of this machine.
Result<std::size_t> bytes_per_element(std::string_view dtype);

/// An array of any rank: what NumPy and C++ exchange. A value; its elements are shared, immutable
/// and in C order (the last index runs fastest).
struct Array {
  std::string dtype = "<f8";        ///< As dtype_of(); NumPy's others (dates, text) as they are.
  std::vector<std::int64_t> shape;  ///< Empty: a scalar, of one element.
  SharedBytes data;                 ///< The elements.

  /// Product of the shape: 1 for a scalar.
  std::int64_t size() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  std::size_t bytes() const { return data.bytes.size(); }  ///< Of the elements together.

  /// Whether shape, dtype and the number of bytes agree.  errors  bad_input: names what does not.
  Result<void> validate() const;

  /// Rows `begin` .. `end`-1 along the first axis; shares the elements.
  /// Preconditions: rank >= 1, 0 <= begin <= end <= shape[0], valid.
  Array rows(std::int64_t begin, std::int64_t end) const;

  /// An array with a copy of `values`.  Precondition: the product of `shape` is values.size().
  template <ArrayElement T>
  static Array copy_of(std::span<const T> values, std::vector<std::int64_t> shape);
  template <ArrayElement T>
  static Array copy_of(std::span<const T> values) {
    return copy_of(values, {static_cast<std::int64_t>(values.size())});
  }  ///< The same, of rank 1.
  /// An array that takes `values` over without a copy. Not for std::vector<bool>.
  template <ArrayElement T>
    requires(!std::same_as<T, bool>)
  static Array adopt(std::vector<T> values, std::vector<std::int64_t> shape = {});

  /// The elements, in C order, as long as this array (or a copy of it) lives.
  /// errors  bad_input: the array holds another type: names both.
  template <ArrayElement T>
  Result<std::span<const T>> as() const;
};

template <ArrayElement T>
Array Array::copy_of(std::span<const T> values, std::vector<std::int64_t> shape) {
  return {
      dtype_of<T>(), std::move(shape),
      owned_bytes(std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes()))};
}

template <ArrayElement T>
  requires(!std::same_as<T, bool>)
Array Array::adopt(std::vector<T> values, std::vector<std::int64_t> shape) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  return {dtype_of<T>(),
          std::move(shape),
          {{reinterpret_cast<const char*>(owner->data()), owner->size() * sizeof(T)}, owner}};
}

template <ArrayElement T>
Result<std::span<const T>> Array::as() const {
  if (dtype != dtype_of<T>())
    return Error{ErrorKind::bad_input, "the array holds " + dtype + ", not " + dtype_of<T>()};
  // A received frame may lie anywhere in memory: aligned access needs it at a multiple.
  if (reinterpret_cast<std::uintptr_t>(data.bytes.data()) % alignof(T) != 0)
    return Error{ErrorKind::bad_input,
                 "the elements of the array are not aligned: call aligned() first"};
  return std::span{reinterpret_cast<const T*>(data.bytes.data()), data.bytes.size() / sizeof(T)};
}

/// The same array, its elements at an address that suits every type; copies only where they do not.
Array aligned(Array array);

/// Bytes one behind the other without a copy, where the caller knows how; else nothing.
using JoinBytes = std::function<std::optional<SharedBytes>(const std::vector<std::string_view>&)>;

/// The blocks one behind the other along the first axis; copied where `join` does not join them.
/// errors  bad_input: there are none, or they differ in dtype or in the other axes: names both.
Result<Array> join_rows(const std::vector<Array>& blocks, const JoinBytes& join = {});

}  // namespace px
