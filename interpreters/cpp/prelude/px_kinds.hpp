#pragma once

// The kinds of types, for displaying, sending and receiving values.

#include <any>
#include <chrono>
#include <complex>
#include <functional>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <version>
#ifdef __cpp_lib_format
#include <format>
#endif

#include "interpreters/cpp/prelude/px_array.hpp"

namespace px::cell {

/// The type in the compiler's spelling.
template <class T>
constexpr std::string_view type_name() {
#ifdef __clang__
  constexpr std::string_view all = __PRETTY_FUNCTION__, before = "[T = ";
  return all.substr(all.find(before) + before.size(),
                    all.size() - all.find(before) - before.size() - 1);
#else
  constexpr std::string_view all = __PRETTY_FUNCTION__, before = "[with T = ";
  constexpr std::size_t begin = all.find(before) + before.size();
  return all.substr(begin, all.find("; std::string_view", begin) - begin);
#endif
}

// ---------------------------------------------------------------- the kind of a type

// A concept that has the parameter Out is checked again for each edition of TextOf: clang remembers
// the result of each check, and a later cell may define how a class is printed.

template <class T, class Out = void>
concept Printed = requires(const T& value, Out* out) {
  mime_bundle_repr(value);
  out;
};
template <class T>
concept PointerLike = requires(const T& value) {
  value.get();
  value.operator->();
};
/// A type that converts to a number or a pointer could be streamed by accident.
template <class T, class Out = void>
concept Streamed =
    std::is_class_v<T> && !PointerLike<T> &&
    !std::is_convertible_v<const T&, const volatile void*> &&
    !std::is_convertible_v<const T&, bool> && !std::is_convertible_v<const T&, long long> &&
    requires(std::ostream& stream, const T& value, Out* out) {
      stream << value;
      out;
    };
#ifdef __cpp_lib_format
template <class T, class Out = void>
concept Formatted = std::is_class_v<T> && requires(const T& value, Out* out) {
  requires std::semiregular<std::formatter<T, char>>;
  std::format("{}", value);
  out;
};
#else
template <class T, class Out = void>
concept Formatted = false;
#endif
/// A JSON value of nlohmann's library or a similar one, which converts to any type.
template <class T>
concept JsonLike = std::is_class_v<T> && requires(const T& value) {
  std::string_view(value.dump(2));
  value.is_object();
  value.is_array();
};
template <class T>
concept Stream = std::is_class_v<T> && std::derived_from<T, std::ios_base>;
template <class T>
concept TextLike = std::is_convertible_v<const T&, std::string_view>;
template <class T>
concept Range = (requires(T & value) {
                  std::begin(value) != std::end(value);
                  ++std::declval<decltype(std::begin(value))&>();
                } &&
                 !std::same_as<std::remove_cvref_t<decltype(*std::begin(std::declval<T&>()))>,
                               std::remove_cvref_t<T>>) ||
                // a range such as a directory, whose begin() is not a member
                requires(T& value) {
  requires std::same_as<decltype(end(value)), std::remove_cvref_t<T>>;
};
template <class T>
concept Sized = requires(const T& value) { std::size(value); };
template <class T>
concept MapLike = Range<T> && requires { typename std::remove_cvref_t<T>::mapped_type; };
template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;
template <class T>
inline constexpr bool is_duration = false;
template <class R, class P>
inline constexpr bool is_duration<std::chrono::duration<R, P>> = true;
template <class T>
inline constexpr bool is_time_point = false;
template <class C, class D>
inline constexpr bool is_time_point<std::chrono::time_point<C, D>> = true;
template <class T>
inline constexpr bool is_smart_pointer = false;
template <class T, class D>
inline constexpr bool is_smart_pointer<std::unique_ptr<T, D>> = true;
template <class T>
inline constexpr bool is_smart_pointer<std::shared_ptr<T>> = true;
template <class T>
inline constexpr bool is_weak_pointer = false;
template <class T>
inline constexpr bool is_weak_pointer<std::weak_ptr<T>> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<array<T, N>> = true;
template <class T>
inline constexpr bool is_reference = false;
template <class T>
inline constexpr bool is_reference<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool is_character =
    std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
    std::same_as<T, char16_t> || std::same_as<T, char32_t>;
template <class T>
inline constexpr bool is_wide_text = false;
template <class C, class R, class A>
inline constexpr bool is_wide_text<std::basic_string<C, R, A>> = true;
template <class C, class R>
inline constexpr bool is_wide_text<std::basic_string_view<C, R>> = true;

/// The elements are contiguous.
template <class T>
concept DenseNumbers = requires(const T& value) {
  std::data(value);
  std::size(value);
} && Number<std::remove_cvref_t<decltype(*std::data(std::declval<const T&>()))>>;

/// std::stack and similar classes: their content is a protected member.
template <class T>
concept Adaptor = std::is_class_v<T> && !std::is_final_v<T> && requires(const T& value) {
  typename T::container_type;
  value.size();
} && !Range<const T>;
/// std::expected, if the library has it.
template <class T>
concept Expected = requires(const T& value) {
  value.has_value();
  value.error();
  *value;
};
/// Types that structured bindings can decompose, and that hide no member.
#if defined(__clang__) && __has_builtin(__builtin_structured_binding_size)
template <class T>
concept Plain = std::is_class_v<T> && std::is_aggregate_v<T> &&
                requires { requires __builtin_structured_binding_size(T) > 0; };
#else
template <class T>
concept Plain = false;
#endif

// ---------------------------------------------------------------- types with rows and columns
// Recognized by their members, so that no library is needed.

/// A matrix or an expression of the library Eigen. Expressions are evaluated first.
template <class T>
concept EigenLike = std::is_class_v<T> && requires(const T& value) {
  value.rows();
  value.cols();
  value.eval();
};
/// An array of xtensor or a similar library, whose rank is known only at run time.
template <class T>
concept TensorLike = std::is_class_v<T> && requires(const T& value) {
  static_cast<std::size_t>(value.dimension());
  static_cast<std::size_t>(value.shape()[0]);
  value(0, 0);
};
/// std::mdspan of rank 2, and its predecessors.
template <class T>
concept SpanOfRows = std::is_class_v<T> && !is_array<T> && requires(const T& value) {
  requires T::rank() == 2;
  value.extent(0);
  typename T::mapping_type;
};
/// A user's class for matrices.
template <class T>
concept OwnMatrix = std::is_class_v<T> && !EigenLike<T> && !is_array<T> && (
    requires(const T& value) { value.rows(); value.cols(); value(0, 0); } ||
    requires(const T& value) { value.n_rows; value.n_cols; value(0, 0); });

}  // namespace px::cell
