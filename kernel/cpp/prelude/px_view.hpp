#pragma once

// The engines of the cluster as an object in the cells of the C++ kernel. It is the first cell of
// each session.

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "interpreters/cpp/prelude/px_give.hpp"
#include "interpreters/cpp/prelude/px_values.hpp"
#include "kernel/cpp/prelude/px_view_exports.hpp"

namespace px {

namespace cell {

/// One request to engines.
class CellRequest {
 public:
  CellRequest(const std::string& targets, const std::string& language)
      : handle_(px_view_open(targets.c_str(), language.c_str())) {}
  CellRequest(CellRequest&& other) : handle_(std::exchange(other.handle_, nullptr)) {}
  CellRequest& operator=(CellRequest&&) = delete;
  ~CellRequest() { px_view_close(handle_); }

  void* handle() const { return handle_; }
  template <class T>
  void add(const T& value) {
    give(px_view_value(handle_), value);
  }
  template <class T>
  T one() const {
    return receive<T>(px_view_result(handle_, 0));
  }
  template <class T>
  std::vector<T> all() const {
    std::vector<T> values;
    for (std::size_t i = 0; i < px_view_results(handle_); ++i)
      values.push_back(receive<T>(px_view_result(handle_, i)));
    return values;
  }

 private:
  void* handle_;
};

/// The functions that one engine and several engines have in common.
class Engines {
 public:
  Engines(std::string targets, std::string language)
      : targets_(std::move(targets)), language_(std::move(language)) {}

  /// Runs source text on them, and shows the output, as %%px does.
  void execute(const std::string& code) const { px_view_execute(ask().handle(), code.c_str()); }
  /// Defines a variable on them, or gives it a new value: numbers, text, px::array, containers.
  template <class T>
  void push(const std::string& name, const T& value) const {
    CellRequest request = ask();
    request.add(value);
    px_view_push(request.handle(), name.c_str());
  }
  /// The value of an expression on them, as text for people.
  std::string text_of(const std::string& expression) const {
    return px_view_text(pulled(expression).handle());
  }

 protected:
  CellRequest ask() const { return {targets_, language_}; }
  CellRequest pulled(const std::string& expression, bool is_joined = false) const {
    CellRequest request = ask();
    px_view_pull(request.handle(), expression.c_str(), is_joined);
    return request;
  }
  template <class... Arguments>
  CellRequest called(const std::string& function, const Arguments&... arguments) const {
    CellRequest request = ask();
    (request.add(arguments), ...);
    px_view_call(request.handle(), function.c_str());
    return request;
  }
  const std::string& language() const { return language_; }

 private:
  std::string targets_, language_;
};

/// A variable on engines: an assignment pushes it; the type to which it is converted decides how it
/// is pulled.
template <class Owner>
class Item {
 public:
  Item(Owner of, std::string name) : of_(std::move(of)), name_(std::move(name)) {}

  template <class T>
  const Item& operator=(const T& value) const {
    of_.push(name_, value);
    return *this;
  }
  template <class T>
  operator T() const requires(Owner::is_one) {
    return of_.template pull<T>(name_);
  }
  template <class T>
  operator std::vector<T>() const requires(!Owner::is_one) {
    return of_.template pull<T>(name_);
  }
  std::string text() const { return of_.text_of(name_); }

 private:
  Owner of_;
  std::string name_;
};

}  // namespace cell

/// One engine of the cluster: `view[0]`.
class engine : public cell::Engines {
 public:
  static constexpr bool is_one = true;
  explicit engine(int id) : Engines(std::to_string(id), "all"), id_(id) {}
  int id() const { return id_; }

  /// The value of an expression on the engine, as a T.
  template <class T>
  T pull(const std::string& expression) const {
    return pulled(expression).template one<T>();
  }
  /// Calls a function on the engine, by its name or its source text; returns its result.
  template <class Result = void, class... Arguments>
  Result call(const std::string& function, const Arguments&... arguments) const {
    if constexpr (std::is_void_v<Result>)
      called(function, arguments...);
    else
      return called(function, arguments...).template one<Result>();
  }

  /// A variable on the engine: `view[0]["x"] = 3;  double x = view[0]["x"];`
  cell::Item<engine> operator[](std::string name) const { return {*this, std::move(name)}; }

 private:
  int id_;
};

/// Several engines of the cluster; `view` has all engines. Each function runs on all engines of the
/// object at the same time, and waits for them.
class engines : public cell::Engines {
 public:
  static constexpr bool is_one = false;
  explicit engines(std::string targets = "", std::string language = "")
      : Engines(std::move(targets), std::move(language)) {}

  /// The ids of the present engines.
  std::vector<int> ids() const {
    const cell::CellRequest request = ask();
    std::vector<int> ids;
    for (std::size_t i = 0; i < px_view_count(request.handle()); ++i)
      ids.push_back(px_view_id(request.handle(), i));
    return ids;
  }
  std::size_t size() const { return ids().size(); }

  engine operator[](int id) const { return engine(id); }
  /// A selection of the engines: {0, 2}, or "0:4", "::2", "all".
  engines targets(std::initializer_list<int> ids) const {
    std::string text;
    for (const int id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
    return engines(text.empty() ? "," : text, language());
  }
  engines targets(const char* text) const { return engines(text, language()); }

  /// The values of an expression, as a T from each engine.
  template <class T>
  std::vector<T> pull(const std::string& expression) const {
    return pulled(expression).template all<T>();
  }
  /// Calls a function on each, by its name or its source text; returns the results.
  template <class Result = void, class... Arguments>
  auto call(const std::string& function, const Arguments&... arguments) const {
    if constexpr (std::is_void_v<Result>)
      called(function, arguments...);
    else
      return called(function, arguments...).template all<Result>();
  }

  /// Cuts a sequence, or an array along its first axis, into one part for each engine.
  template <class T>
  void scatter(const std::string& name, const T& sequence) const {
    cell::CellRequest request = ask();
    request.add(sequence);
    px_view_scatter(request.handle(), name.c_str());
  }
  /// The parts of all engines, joined: std::vector<double>, px::array<float, 2> ...
  template <class T>
  T gather(const std::string& expression) const {
    return pulled(expression, true).template one<T>();
  }
  /// Calls a function for each item of the sequences: the first call gets the first item of each
  /// sequence, the second call gets the second items, and so on. Each engine makes a part of the
  /// calls. The results are in the order of the items.
  template <class Result, class... Sequences>
  std::vector<Result> map(const std::string& function, const Sequences&... sequences) const {
    static_assert(sizeof...(Sequences) > 0, "map() needs at least one sequence");
    cell::CellRequest request = ask();
    (request.add(sequences), ...);
    px_view_map(request.handle(), function.c_str());
    return request.template one<std::vector<Result>>();
  }

  /// A variable on all engines: `view["x"] = 3;  std::vector<double> all = view["x"];`
  cell::Item<engines> operator[](std::string name) const { return {*this, std::move(name)}; }
};

// The display of engines as the value of a cell.
inline std::vector<std::pair<std::string, std::string>> mime_bundle_repr(const engines& shown) {
  std::string text;
  for (const int id : shown.ids()) text += (text.empty() ? "" : ", ") + std::to_string(id);
  return {{"text/plain", "engines " + text}};
}
inline std::vector<std::pair<std::string, std::string>> mime_bundle_repr(const engine& shown) {
  return {{"text/plain", "engine " + std::to_string(shown.id())}};
}
template <class Owner>
std::vector<std::pair<std::string, std::string>> mime_bundle_repr(const cell::Item<Owner>& shown) {
  return {{"text/plain", shown.text()}};
}

inline engines view;

}  // namespace px

px::engines& view = px::view;
