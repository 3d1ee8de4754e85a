#pragma once

// Values that are sent to other languages.

#include <cstddef>
#include <memory>
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
#include "interpreters/cpp/prelude/px_values.hpp"

namespace px {

/// The names of the variables that cells have defined, in the order of their definitions.
inline std::vector<std::string> variables() {
  std::vector<std::string> names;
  for (std::string_view rest = px_cell_variables(); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return names;
}

}  // namespace px

namespace px::cell {

template <class T>
void give(void* answer, T&& value);

template <class T>
void give_numbers(void* answer, const T* data, std::ptrdiff_t count) {
  px_cell_give_array(answer, dtype_of<T>(), data, &count, nullptr, 1, nullptr, nullptr);
}

/// Gives a vector to an answer without a copy, if nothing else uses the vector.
template <class T>
void give_vector(void* answer, std::vector<T>&& values) {
  auto* const kept = new std::vector<T>(std::move(values));
  const std::ptrdiff_t count = static_cast<std::ptrdiff_t>(kept->size());
  px_cell_give_array(answer, dtype_of<T>(), kept->data(), &count, nullptr, 1, kept,
                     [](void* owner) { delete static_cast<std::vector<T>*>(owner); });
}

template <class T, std::size_t N>
void give_strided(void* answer, const array<T, N>& value) {
  std::ptrdiff_t strides[N];
  for (std::size_t axis = 0; axis < N; ++axis)
    strides[axis] = value.strides()[axis] * static_cast<std::ptrdiff_t>(sizeof(T));
  using Owner = std::shared_ptr<void>;
  if (!value.owner())
    return px_cell_give_array(answer, dtype_of<std::remove_cv_t<T>>(), value.data(),
                              value.shape().data(), strides, N, nullptr, nullptr);
  px_cell_give_shared_array(answer, dtype_of<std::remove_cv_t<T>>(), value.data(),
                            value.shape().data(), strides, N, new Owner(value.owner()),
                            [](void* owner) { delete static_cast<Owner*>(owner); });
}

template <class T>
void give_matrix(void* answer, const T& value) {
  using Scalar = typename T::Scalar;
  const std::ptrdiff_t rows = value.rows(), columns = value.cols();
  array<Scalar, 2> copy(rows, columns);
  for (std::ptrdiff_t i = 0; i < rows; ++i)
    for (std::ptrdiff_t j = 0; j < columns; ++j) copy(i, j) = value(i, j);
  constexpr bool is_vector = requires { requires bool(T::IsVectorAtCompileTime); };
  if constexpr (is_vector)
    give_numbers(answer, copy.data(), rows * columns);
  else
    give_strided(answer, copy);
}

template <class T>
void give_map(void* answer, T& map) {
  px_cell_open_map(answer);
  for (auto& item : map) {
    const std::string_view key = item.first;
    px_cell_give_key(answer, key.data(), key.size());
    give(answer, item.second);
  }
  px_cell_close(answer);
}

template <class T>
void give_range(void* answer, T& range) {
  using Item = std::remove_cvref_t<decltype(*std::begin(range))>;
  if constexpr (Number<Item>) {  // of a list, a set, a generated range
    std::vector<Item> items;
    for (auto&& item : range) items.push_back(item);
    give_vector(answer, std::move(items));
  } else if constexpr (requires(Item item) { item.flip(); }) {  // std::vector<bool>
    const std::ptrdiff_t count = static_cast<std::ptrdiff_t>(std::size(range));
    std::unique_ptr<bool[]> items(new bool[static_cast<std::size_t>(count)]);
    for (std::ptrdiff_t i = 0; i < count; ++i) items[i] = range[static_cast<std::size_t>(i)];
    give_numbers(answer, items.get(), count);
  } else {
    px_cell_open_list(answer);
    for (auto&& item : range) give(answer, item);
    px_cell_close(answer);
  }
}

template <class T>
[[noreturn]] void refuse_type() {
  constexpr std::string_view name = type_name<T>();
  px_cell_refuse_type(name.data(), name.size());
}

template <class T, class Forwarded>
void give_class(void* answer, Forwarded&& value) {
  if constexpr (is_array<T>) {
    if constexpr (Number<typename T::value_type>)
      give_strided(answer, value);
    else
      give_range(answer, value);
  } else if constexpr (TextLike<T>) {
    const std::string_view text = value;
    px_cell_give_text(answer, text.data(), text.size());
  } else if constexpr (is_optional<T>) {
    if (value)
      give(answer, *value);
    else
      px_cell_give_null(answer);
  } else if constexpr (std::same_as<T, std::monostate> || std::same_as<T, std::nullopt_t>) {
    px_cell_give_null(answer);
  } else if constexpr (is_variant<T>) {
    std::visit([&](const auto& held) { give(answer, held); }, value);
  } else if constexpr (is_reference<T>) {
    give(answer, value.get());
  } else if constexpr (MatrixLike<T>) {
    give_matrix(answer, value);
  } else if constexpr (
      requires { requires std::same_as<typename T::value_type, std::byte>; } &&
      requires { std::data(value); }) {
    px_cell_give_bytes(answer, reinterpret_cast<const char*>(std::data(value)), std::size(value));
  } else if constexpr (DenseNumbers<T>) {
    using Item = std::remove_cvref_t<decltype(*std::data(value))>;
    if constexpr (std::same_as<T, std::vector<Item>> && !std::is_lvalue_reference_v<Forwarded> &&
                  !std::is_const_v<std::remove_reference_t<Forwarded>>)
      give_vector(answer, std::move(value));
    else
      give_numbers(answer, std::data(value), static_cast<std::ptrdiff_t>(std::size(value)));
  } else if constexpr (MapLike<T> && requires { typename T::key_type; }) {
    if constexpr (TextLike<typename T::key_type>)
      give_map(answer, value);
    else
      refuse_type<T>();
  } else if constexpr (Range<std::remove_reference_t<Forwarded>>) {
    give_range(answer, value);
  } else if constexpr (TupleLike<T>) {
    px_cell_open_list(answer);
    std::apply([&](const auto&... items) { (give(answer, items), ...); }, value);
    px_cell_close(answer);
  } else if constexpr (requires {
                         typename T::value_type;
                         value.load();
                       }) {
    give(answer, value.load());
  } else {
    refuse_type<T>();
  }
}

/// Writes a value into an answer.
template <class T>
void give(void* answer, T&& value) {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::same_as<Plain, bool>)
    px_cell_give_bool(answer, value);
  else if constexpr (Number<Plain>) {
    const Plain number = value;
    px_cell_give_number(answer, dtype_of<Plain>(), &number);
  } else if constexpr (std::is_enum_v<Plain>) {
    give(answer, static_cast<std::underlying_type_t<Plain>>(value));
  } else if constexpr (std::same_as<Plain, std::nullptr_t>) {
    px_cell_give_null(answer);
  } else if constexpr (TextLike<Plain>) {
    const std::string_view text = value;
    px_cell_give_text(answer, text.data(), text.size());
  } else if constexpr (std::is_array_v<Plain>) {
    using Item = std::remove_cv_t<std::remove_extent_t<Plain>>;
    if constexpr (Number<Item>)
      give_numbers(answer, value, static_cast<std::ptrdiff_t>(std::extent_v<Plain>));
    else
      give_range(answer, value);
  } else if constexpr (std::is_class_v<Plain>) {
    give_class<Plain>(answer, std::forward<T>(value));
  } else {
    refuse_type<Plain>();
  }
}

/// `Giver{i}, x` makes x the answer number i. If the expression has the type void, the answer has
/// no value.
struct Giver {
  int index;
};
template <class T>
void operator,(Giver giver, T&& value) {
  give(px_cell_answer(giver.index), std::forward<T>(value));
}

}  // namespace px::cell
