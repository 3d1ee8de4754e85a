#pragma once

// Values that come from other languages and go to them.

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

#include "px_array.hpp"
#include "px_exports.hpp"
#include "px_show.hpp"

namespace px {

/// What lists and maps of unlike parts hold when they come from other languages.
using scalar = std::variant<std::monostate, bool, long, double, std::string>;

}  // namespace px

namespace px::cell {

/// Eigen's matrices and what looks like them.
template <class T>
concept MatrixLike = requires(T& value) {
  typename T::Scalar;
  value.rows();
  value.cols();
  value(0, 0);
}
&&Number<typename T::Scalar>;

/// std::map and the like, whose keys are text.
template <class T>
concept TextMap = MapLike<T> && requires {
  requires std::constructible_from<typename T::key_type, const char*, std::size_t>;
};

// ---------------------------------------------------------------- in

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

/// Whether the node is a T as it is, without a conversion.
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

/// An array: of the memory that came where the type of the elements is the same.
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

/// Elements of any number of dimensions, one behind the other.
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

/// Gives a variable of the user's the value of an argument: its type stays.
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

// ---------------------------------------------------------------- out

template <class T>
void give(void* answer, T&& value);

template <class T>
void give_numbers(void* answer, const T* data, std::ptrdiff_t count) {
  px_cell_give_array(answer, dtype_of<T>(), data, &count, nullptr, 1, nullptr, nullptr);
}

/// A vector that nobody else has is given away whole.
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
  px_cell_give_array(answer, dtype_of<std::remove_cv_t<T>>(), value.data(), value.shape().data(),
                     strides, N, nullptr, nullptr);
}

template <class T>
void give_matrix(void* answer, const T& value) {
  using Scalar = typename T::Scalar;
  const std::ptrdiff_t rows = value.rows(), columns = value.cols();
  array<Scalar, 2> copy(rows, columns);
  for (std::ptrdiff_t i = 0; i < rows; ++i)
    for (std::ptrdiff_t j = 0; j < columns; ++j) copy(i, j) = value(i, j);
  constexpr bool is_vector = requires {
    requires bool(T::IsVectorAtCompileTime);
  };
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

/// Puts a value into an answer.
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

/// `Giver{i}, x` makes x the answer number i. What is void stays no value.
struct Giver {
  int index;
};
template <class T>
void operator,(Giver giver, T&& value) {
  give(px_cell_answer(giver.index), std::forward<T>(value));
}

// ---------------------------------------------------------------- calls

/// What a parameter of type P needs to live while the function runs.
template <class P>
struct Holder {
  using Plain = std::remove_cvref_t<P>;
  explicit Holder(const void* node) : held(receive<Plain>(node)) {}
  P pass() { return static_cast<P>(held); }
  P pass() requires(!std::is_reference_v<P>) { return std::move(held); }
  Plain held;
};
template <class P>
requires std::same_as<std::remove_cvref_t<P>, std::string_view>
struct Holder<P> {
  explicit Holder(const void* node) : held(receive<std::string>(node)) {}
  P pass() {
    view = held;
    return static_cast<P>(view);
  }
  std::string held;
  std::string_view view;
};
template <>
struct Holder<const char*> {
  explicit Holder(const void* node) : held(receive<std::string>(node)) {}
  const char* pass() { return held.c_str(); }
  std::string held;
};
template <class E>
requires Number<std::remove_cv_t<E>> &&(!std::same_as<E, const char>)struct Holder<E*> {
  explicit Holder(const void* node) : held(receive_elements<E>(node)) {}
  E* pass() { return held.data(); }
  array<E, 1> held;
};
template <class E>
requires Number<std::remove_cv_t<E>>
struct Holder<std::span<E>> {
  explicit Holder(const void* node) : held(receive_array<E, 1>(node)) {}
  std::span<E> pass() { return {held.data(), held.size()}; }
  array<E, 1> held;
};

template <class... P>
struct Parameters {};
template <class F>
struct ParametersOf : ParametersOf<decltype(&F::operator())> {};
template <class R, class... P>
struct ParametersOf<R(P...)> {
  using Type = Parameters<P...>;
};
template <class R, class... P>
struct ParametersOf<R(P...) noexcept> : ParametersOf<R(P...)> {};
template <class R, class... P>
struct ParametersOf<R (*)(P...)> : ParametersOf<R(P...)> {};
template <class R, class... P>
struct ParametersOf<R (*)(P...) noexcept> : ParametersOf<R(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...)> : ParametersOf<R(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) const> : ParametersOf<R(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) noexcept> : ParametersOf<R(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) const noexcept> : ParametersOf<R(P...)> {};

template <class F, class... P, std::size_t... I>
void call_with(F& function, Parameters<P...>, std::index_sequence<I...>) {
  std::tuple<Holder<P>...> held{Holder<P>(px_cell_argument(static_cast<int>(I)))...};
  Giver{0}, function(std::get<I>(held).pass()...);
}

/// Calls a function with the arguments that came, each converted to its parameter's type.
template <class F>
void call(std::size_t count, F&& function) {
  using Plain = std::remove_cvref_t<F>;
  [&]<class... P>(Parameters<P...> parameters) {
    if (count != sizeof...(P)) px_cell_refuse_count(sizeof...(P), count);
    call_with(function, parameters, std::make_index_sequence<sizeof...(P)>());
  }(typename ParametersOf<Plain>::Type());
}

/// The items of a sequence that came, as a parameter needs them.
template <class P>
class Column {
 public:
  explicit Column(int index) : node_(px_cell_argument(index)), count_(px_cell_count(node_)) {
    const px_cell_kind kind = px_cell_kind_of(node_);
    if (kind != px_cell_list && kind != px_cell_array) refuse<std::vector<Plain>>(node_);
    if constexpr (is_plain) values_ = receive_array<const Plain, 1>(node_);
  }
  std::size_t count() const { return count_; }
  auto item(std::size_t index) const {
    if constexpr (is_plain)
      return Value{values_.data()[index]};
    else
      return Holder<P>(px_cell_item(node_, index));
  }

 private:
  using Plain = std::remove_cvref_t<P>;
  static constexpr bool is_plain = Number<Plain> && !std::same_as<Plain, bool>;
  struct Value {
    Plain held;
    P pass() { return static_cast<P>(held); }
  };
  const void* node_;
  std::size_t count_;
  std::conditional_t<is_plain, array<const Plain, 1>, int> values_{};
};

template <class F, class... P, std::size_t... I>
void map_with(F& function, Parameters<P...>, std::index_sequence<I...>) {
  const std::tuple<Column<P>...> columns{Column<P>(static_cast<int>(I))...};
  std::size_t count = std::numeric_limits<std::size_t>::max();
  ((count = std::min(count, std::get<I>(columns).count())), ...);
  void* const answer = px_cell_answer(0);
  const auto call_at = [&](std::size_t index) {
    auto held = std::make_tuple(std::get<I>(columns).item(index)...);
    return function(std::get<I>(held).pass()...);
  };
  using Result = std::remove_cvref_t<decltype(call_at(0))>;
  if constexpr (Number<Result> && !std::same_as<Result, bool>) {
    std::vector<Result> results;
    results.reserve(count);
    for (std::size_t i = 0; i < count; ++i) results.push_back(call_at(i));
    give_vector(answer, std::move(results));
  } else {
    px_cell_open_list(answer);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (std::is_void_v<Result>) {
        call_at(i);
        px_cell_give_null(answer);
      } else {
        give(answer, call_at(i));
      }
    }
    px_cell_close(answer);
  }
}

/// Calls a function with the first item of each argument, then the second of each ...
template <class F>
void map(std::size_t count, F&& function) {
  using Plain = std::remove_cvref_t<F>;
  [&]<class... P>(Parameters<P...> parameters) {
    if (count != sizeof...(P) || count == 0) px_cell_refuse_count(sizeof...(P), count);
    map_with(function, parameters, std::make_index_sequence<sizeof...(P)>());
  }(typename ParametersOf<Plain>::Type());
}

}  // namespace px::cell
