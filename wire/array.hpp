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

/// The element types that C++ code can read from an AnyArray and write to it: the arithmetic types,
/// and complex numbers of float and double. Arrays of other NumPy types (dates, fixed-length text)
/// can be transferred, too, but only as untyped bytes.
template <class T>
concept ArrayElement = std::is_arithmetic_v<T> || std::same_as<T, std::complex<float>> ||
                       std::same_as<T, std::complex<double>>;

/// The name of an element type, as NumPy's array interface spells it: byte order ('<', or '|' if
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

/// The size of one element of this dtype in bytes: 8 for "<f8", 12 for "<U3" (4 bytes for each
/// character), 8 for "<M8[ns]".
/// errors  bad_input: the text is not a dtype of fixed size in the byte order of this machine.
Result<std::size_t> bytes_per_element(std::string_view dtype);

/// An array of any rank: the common form of NumPy arrays and C++ buffers in messages. A copy shares
/// the elements. The elements are immutable, and lie in C order (the last index varies fastest)
/// without gaps.
///
/// Element type and rank are known only at run time. If they are known at compile time, C++ cells
/// can use px::array<T, N>.
///
/// The members are public, and are not checked when they are set. read_value() validates arrays
/// that come from a peer. Code that sets the members itself must call validate().
struct AnyArray {
  std::string dtype = "<f8";        ///< As dtype_of(); NumPy's other dtypes unchanged.
  std::vector<std::int64_t> shape;  ///< One extent for each axis. Empty: a scalar.
  SharedBytes data;                 ///< The elements; size() times bytes_per_element() bytes.

  /// The number of elements: the product of the shape, 1 for a scalar.
  std::int64_t size() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  std::size_t bytes() const { return data.bytes.size(); }  ///< The size of all elements.

  /// Checks that shape, dtype and number of bytes agree, without overflow.
  /// errors  bad_input: the dtype is unknown, an extent is negative or too large, or the number of
  ///         bytes does not fit; the message says which of these is wrong.
  Result<void> validate() const;

  /// Rows `begin` .. `end`-1 along the first axis, as an array of the same rank. Copies nothing:
  /// the result shares the elements and keeps all of them alive.
  /// Preconditions: rank >= 1, 0 <= begin <= end <= shape[0], valid.
  AnyArray rows(std::int64_t begin, std::int64_t end) const;

  /// An array with its own copy of `values`. Precondition: the product of `shape` is values.size().
  template <ArrayElement T>
  static AnyArray copy_of(std::span<const T> values, std::vector<std::int64_t> shape);
  template <ArrayElement T>
  static AnyArray copy_of(std::span<const T> values) {
    return copy_of(values, {static_cast<std::int64_t>(values.size())});
  }  ///< Like the function above, of rank 1.
  /// An array that takes over the vector without a copy. Not for std::vector<bool>, because it
  /// packs its elements into bits.
  /// shape  if it is empty, the array has rank 1 and all elements of `values`. Otherwise the
  ///        product of the shape must be values.size(); this is not checked.
  template <ArrayElement T>
  requires(!std::same_as<T, bool>) static AnyArray
      adopt(std::vector<T> values, std::vector<std::int64_t> shape = {});

  /// The elements, in C order, without a copy. They are valid as long as this array or a copy of it
  /// exists.
  /// errors  bad_input: the elements have another type (the message names both types), or they are
  ///         not aligned for T. Elements in a received frame may be unaligned: call aligned()
  ///         first.
  template <ArrayElement T>
  Result<std::span<const T>> as() const;
};

/// The old name of AnyArray.
using Array [[deprecated("the name is px::AnyArray")]] = AnyArray;

template <ArrayElement T>
AnyArray AnyArray::copy_of(std::span<const T> values, std::vector<std::int64_t> shape) {
  return {
      dtype_of<T>(), std::move(shape),
      owned_bytes(std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes()))};
}

template <ArrayElement T>
requires(!std::same_as<T, bool>) AnyArray AnyArray::adopt(std::vector<T> values,
                                                          std::vector<std::int64_t> shape) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  return {dtype_of<T>(),
          std::move(shape),
          {{reinterpret_cast<const char*>(owner->data()), owner->size() * sizeof(T)}, owner}};
}

template <ArrayElement T>
Result<std::span<const T>> AnyArray::as() const {
  if (dtype != dtype_of<T>())
    return Error{ErrorKind::bad_input, "the array holds " + dtype + ", not " + dtype_of<T>()};
  // A received frame may start at any address: aligned access needs a multiple of the alignment.
  if (reinterpret_cast<std::uintptr_t>(data.bytes.data()) % alignof(T) != 0)
    return Error{ErrorKind::bad_input,
                 "the elements of the array are not aligned: call aligned() first"};
  return std::span{reinterpret_cast<const T*>(data.bytes.data()), data.bytes.size() / sizeof(T)};
}

/// The same array with its elements at an address that suits every type. Copies the elements only
/// if they are not already aligned.
AnyArray aligned(AnyArray array);

/// A function that presents several pieces of memory as a single one, in their order, without a
/// copy. If this is not possible, it returns no value, and the caller copies the pieces. The client
/// passes os::join_mapped, which joins shared memory by mapping it a second time, because code in
/// wire/ cannot do that.
using JoinBytes = std::function<std::optional<SharedBytes>(const std::vector<std::string_view>&)>;

/// Joins the blocks along the first axis, in their order. Copies the elements, unless `join` can
/// join them without a copy.
/// errors  bad_input: there are no blocks, or two blocks differ in dtype or in the extents of the
///         other axes; the message names both.
Result<AnyArray> join_rows(const std::vector<AnyArray>& blocks, const JoinBytes& join = {});

}  // namespace px
