#pragma once

// Functions that are called from other languages.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "interpreters/cpp/prelude/px_array.hpp"
#include "interpreters/cpp/prelude/px_exports.hpp"
#include "interpreters/cpp/prelude/px_give.hpp"
#include "interpreters/cpp/prelude/px_values.hpp"

namespace px::cell {

/// The object that a parameter of type P refers to while the function runs.
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

/// A method of an object, with the parameters that it declares.
template <class O, class M>
struct Method {
  O* object;
  M pointer;
  template <class... A>
  decltype(auto) operator()(A&&... arguments) const {
    return (object->*pointer)(std::forward<A>(arguments)...);
  }
};
template <class O, class M>
struct ParametersOf<Method<O, M>> : ParametersOf<M> {};

/// A method of an object as a function, or the object's data member itself.
template <class O, class M>
decltype(auto) member(O& object, M pointer) {
  if constexpr (std::is_member_object_pointer_v<M>)
    return (object.*pointer);
  else
    return Method<O, M>{&object, pointer};
}

template <class F, class... P, std::size_t... I>
void call_with(F& function, Parameters<P...>, std::index_sequence<I...>) {
  std::tuple<Holder<P>...> held{Holder<P>(px_cell_argument(static_cast<int>(I)))...};
  Giver{0}, function(std::get<I>(held).pass()...);
}

/// Calls a function with the received arguments, each converted to its parameter's type.
template <class F>
void call(std::size_t count, F&& function) {
  using Plain = std::remove_cvref_t<F>;
  [&]<class... P>(Parameters<P...> parameters) {
    if (count != sizeof...(P)) px_cell_refuse_count(sizeof...(P), count);
    call_with(function, parameters, std::make_index_sequence<sizeof...(P)>());
  }(typename ParametersOf<Plain>::Type());
}

/// The items of a received sequence, in the form that a parameter needs.
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

/// Calls a function for each item: the first call gets the first item of each argument, the second
/// call gets the second items, and so on.
template <class F>
void map(std::size_t count, F&& function) {
  using Plain = std::remove_cvref_t<F>;
  [&]<class... P>(Parameters<P...> parameters) {
    if (count != sizeof...(P) || count == 0) px_cell_refuse_count(sizeof...(P), count);
    map_with(function, parameters, std::make_index_sequence<sizeof...(P)>());
  }(typename ParametersOf<Plain>::Type());
}

}  // namespace px::cell
