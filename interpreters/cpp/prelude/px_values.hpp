#pragma once

// Values that are received from other languages.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "interpreters/cpp/prelude/px_array.hpp"
#include "interpreters/cpp/prelude/px_exports.hpp"
#include "interpreters/cpp/prelude/px_show.hpp"

namespace px {

/// The element type for lists and maps from other languages whose elements have different types.
using scalar = std::variant<std::monostate, bool, long, double, std::string>;

}  // namespace px

namespace px::cell {

/// Eigen's matrices and similar types.
template <class T>
concept MatrixLike = requires(T& value) {
  typename T::Scalar;
  value.rows();
  value.cols();
  value(0, 0);
}
&&Number<typename T::Scalar>;

/// std::map and similar types, whose keys are text.
template <class T>
concept TextMap = MapLike<T> && requires {
  requires std::constructible_from<typename T::key_type, const char*, std::size_t>;
};

template <class T>
[[noreturn]] void refuse(const void* node) {
  constexpr std::string_view name = type_name<T>();
  px_cell_refuse(node, name.data(), name.size());
}
template <class T>
[[noreturn]] void refuse_target() {
  constexpr std::string_view name = type_name<T>();
  px_cell_refuse_target(name.data(), name.size());
}

template <class T>
T receive(const void* node);

inline std::string_view text_of(const void* node) {
  std::size_t size = 0;
  const char* const begin = px_cell_characters(node, &size);
  return {begin, size};
}

/// Whether the node is a T without a conversion.
template <class T>
bool is_exactly(const void* node) {
  const px_cell_kind kind = px_cell_kind_of(node);
  if constexpr (std::same_as<T, std::monostate> || std::same_as<T, std::nullptr_t>)
    return kind == px_cell_null;
  else if constexpr (std::same_as<T, bool>)
    return kind == px_cell_bool;
  else if constexpr (std::is_integral_v<T>)
    return kind == px_cell_integer;
  else if constexpr (std::is_floating_point_v<T>)
    return kind == px_cell_real;
  else if constexpr (is_complex<T>)
    return kind == px_cell_complex;
  else if constexpr (std::same_as<T, std::string>)
    return kind == px_cell_text;
  else if constexpr (is_array<T>)
    return kind == px_cell_array;
  else if constexpr (MapLike<T>)
    return kind == px_cell_map;
  else
    return kind == px_cell_list || kind == px_cell_array;
}

template <class T>
T receive_number(const void* node) {
  T value{};
  if (!px_cell_number(node, dtype_of<T>(), &value)) refuse<T>(node);
  return value;
}

/// An array. It uses the received memory if the type of the elements is the same.
template <class T, std::size_t N>
array<T, N> receive_array(const void* node) {
  using Element = std::remove_cv_t<T>;
  std::ptrdiff_t extents[8] = {};
  if (px_cell_shape(node, extents) != static_cast<int>(N)) refuse<array<T, N>>(node);
  typename array<T, N>::extents shape;
  for (std::size_t axis = 0; axis < N; ++axis) shape[axis] = extents[axis];
  std::shared_ptr<void> owner;
  if (void* const memory = px_cell_memory(node, dtype_of<Element>(), &owner))
    return {static_cast<T*>(memory), shape, std::move(owner)};
  const std::size_t count = array<T, N>::product(shape);
  std::shared_ptr<Element[]> memory(new Element[count]);
  if (!px_cell_elements(node, dtype_of<Element>(), memory.get())) refuse<array<T, N>>(node);
  Element* const data = memory.get();
  return {data, shape, std::move(memory)};
}

/// The elements of nested lists with up to 8 dimensions, as one sequence.
template <class T>
array<T, 1> receive_elements(const void* node) {
  using Element = std::remove_cv_t<T>;
  std::ptrdiff_t extents[8] = {};
  const int rank = px_cell_shape(node, extents);
  if (rank < 1 || rank > 8) refuse<T*>(node);
  std::ptrdiff_t count = 1;
  for (int axis = 0; axis < rank; ++axis) count *= extents[axis];
  std::shared_ptr<void> owner;
  if (void* const memory = px_cell_memory(node, dtype_of<Element>(), &owner))
    return {static_cast<T*>(memory), {count}, std::move(owner)};
  std::shared_ptr<Element[]> memory(new Element[static_cast<std::size_t>(count)]);
  if (!px_cell_elements(node, dtype_of<Element>(), memory.get())) refuse<T*>(node);
  Element* const data = memory.get();
  return {data, {count}, std::move(memory)};
}

template <class T>
T receive_matrix(const void* node) {
  using Scalar = typename T::Scalar;
  std::ptrdiff_t extents[8] = {};
  const int rank = px_cell_shape(node, extents);
  if (rank != 1 && rank != 2) refuse<T>(node);
  const array<Scalar, 1> elements = receive_elements<Scalar>(node);
  const std::ptrdiff_t rows = extents[0], columns = rank == 2 ? extents[1] : 1;
  T matrix;
  bool is_row = false;
  if constexpr (requires { T::RowsAtCompileTime; }) is_row = T::RowsAtCompileTime == 1;
  if constexpr (requires { matrix.resize(rows, columns); })
    is_row&& columns == 1 ? matrix.resize(1, rows) : matrix.resize(rows, columns);
  if (matrix.rows() * matrix.cols() != rows * columns) refuse<T>(node);
  for (std::ptrdiff_t i = 0; i < rows; ++i)
    for (std::ptrdiff_t j = 0; j < columns; ++j)
      (matrix.rows() == 1 && columns == 1 ? matrix(0, i) : matrix(i, j)) =
          elements.data()[i * columns + j];
  return matrix;
}

template <class T>
void need_list(const void* node, std::size_t size) {
  const px_cell_kind kind = px_cell_kind_of(node);
  if ((kind != px_cell_list && kind != px_cell_array) || px_cell_count(node) != size)
    refuse<T>(node);
}

template <class T, std::size_t... I>
T receive_tuple(const void* node, std::index_sequence<I...>) {
  need_list<T>(node, sizeof...(I));
  return T{receive<std::remove_cvref_t<std::tuple_element_t<I, T>>>(px_cell_item(node, I))...};
}

template <class T, std::size_t I = 0>
T receive_variant(const void* node) {
  if constexpr (I == std::variant_size_v<T>) {
    refuse<T>(node);
  } else {
    using Alternative = std::variant_alternative_t<I, T>;
    if (is_exactly<Alternative>(node)) return T(std::in_place_index<I>, receive<Alternative>(node));
    return receive_variant<T, I + 1>(node);
  }
}

template <class T>
T receive_map(const void* node) {
  if (px_cell_kind_of(node) != px_cell_map) refuse<T>(node);
  T map;
  for (std::size_t i = 0; i < px_cell_count(node); ++i) {
    std::size_t size = 0;
    const char* const key = px_cell_key(node, i, &size);
    map.emplace(typename T::key_type(key, size),
                receive<typename T::mapped_type>(px_cell_item(node, i)));
  }
  return map;
}

template <class T>
T receive_sequence(const void* node) {
  using Item = typename T::value_type;
  if constexpr (Number<Item> && !std::same_as<Item, bool> && DenseNumbers<T> &&
                requires(T sequence) { sequence.resize(1); }) {
    std::ptrdiff_t extents[8] = {};
    if (px_cell_shape(node, extents) != 1) refuse<T>(node);
    T sequence;
    sequence.resize(static_cast<std::size_t>(extents[0]));
    if (!px_cell_elements(node, dtype_of<Item>(), sequence.data())) refuse<T>(node);
    return sequence;
  } else {
    const px_cell_kind kind = px_cell_kind_of(node);
    if (kind != px_cell_list && kind != px_cell_array) refuse<T>(node);
    T sequence;
    const std::size_t count = px_cell_count(node);
    for (std::size_t i = 0; i < count; ++i)
      sequence.insert(sequence.end(), receive<Item>(px_cell_item(node, i)));
    return sequence;
  }
}

template <class T>
T receive_class(const void* node) {
  if constexpr (is_array<T>) {
    return receive_array<typename T::element_type, T::rank()>(node);
  } else if constexpr (std::same_as<T, std::string>) {
    if (px_cell_kind_of(node) != px_cell_text) refuse<T>(node);
    return std::string(text_of(node));
  } else if constexpr (is_optional<T>) {
    if (px_cell_kind_of(node) == px_cell_null) return std::nullopt;
    return receive<typename T::value_type>(node);
  } else if constexpr (std::same_as<T, std::monostate>) {
    if (px_cell_kind_of(node) != px_cell_null) refuse<T>(node);
    return {};
  } else if constexpr (is_variant<T>) {
    return receive_variant<T>(node);
  } else if constexpr (MatrixLike<T> && std::default_initializable<T>) {
    return receive_matrix<T>(node);
  } else if constexpr (TextMap<T>) {
    return receive_map<T>(node);
  } else if constexpr (std::same_as<T, std::vector<std::byte>>) {
    if (px_cell_kind_of(node) != px_cell_bytes) refuse<T>(node);
    const std::string_view text = text_of(node);
    const std::byte* const begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
  } else if constexpr (TupleLike<T> && Range<T>) {  // std::array
    T made{};
    need_list<T>(node, made.size());
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = receive<typename T::value_type>(px_cell_item(node, i));
    return made;
  } else if constexpr (TupleLike<T>) {
    return receive_tuple<T>(node, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (Range<T> && std::default_initializable<T> && requires(T made) {
                         typename T::value_type;
                         made.insert(made.end(), std::declval<typename T::value_type>());
                       }) {
    return receive_sequence<T>(node);
  } else {
    refuse_target<T>();
  }
}

template <class T>
T receive(const void* node) {
  if constexpr (Number<T>)
    return receive_number<T>(node);
  else if constexpr (std::is_enum_v<T>)
    return static_cast<T>(receive_number<std::underlying_type_t<T>>(node));
  else if constexpr (std::same_as<T, std::nullptr_t>) {
    if (px_cell_kind_of(node) != px_cell_null) refuse<T>(node);
    return nullptr;
  } else if constexpr (std::is_class_v<T>)
    return receive_class<T>(node);
  else
    refuse_target<T>();
}

/// The argument number `index` as a T.
template <class T>
T take(int index) {
  return receive<T>(px_cell_argument(index));
}

/// Assigns the value of an argument to a variable of the user. The variable keeps its type.
template <class T>
void assign(T& variable, int index) {
  const void* const node = px_cell_argument(index);
  if constexpr (std::is_const_v<T>) {
    refuse_target<T>();
  } else if constexpr (std::is_bounded_array_v<T>) {
    need_list<T>(node, std::extent_v<T>);
    for (std::size_t i = 0; i < std::extent_v<T>; ++i)
      variable[i] = receive<std::remove_extent_t<T>>(px_cell_item(node, i));
  } else if constexpr (requires { []<class E, std::size_t M>(std::span<E, M>) {}(variable); }) {
    // A view keeps its memory.
    using Element = typename T::element_type;
    if constexpr (Number<Element>) {
      std::ptrdiff_t extents[8] = {};
      if (px_cell_shape(node, extents) != 1 ||
          extents[0] != static_cast<std::ptrdiff_t>(variable.size()) ||
          !px_cell_elements(node, dtype_of<Element>(), variable.data()))
        refuse<T>(node);
    } else {
      refuse_target<T>();
    }
  } else if constexpr (std::is_assignable_v<T&, T>) {
    variable = receive<T>(node);
  } else {
    refuse_target<T>();
  }
}

}  // namespace px::cell
