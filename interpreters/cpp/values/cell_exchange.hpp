#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interpreters/cpp/guard/cell_outcome.hpp"
#include "interpreters/cpp/values/cell_answer.hpp"
#include "interpreters/cpp/values/cell_node.hpp"

namespace px::cpp {

/// The connection between the code of cells and the engine: the displays of cells, the values that
/// they receive and those that they send. Cells reach the installed one through the functions of
/// cell_exports.hpp.
/// Any thread may show() and clear_output(); all else is for the main thread.
class CellExchange {
 public:
  using Display = std::function<void(const MimeBundle&)>;

  CellExchange() = default;
  ~CellExchange();
  CellExchange(CellExchange&&) = delete;

  /// From now on cells use this object. It must outlive them.
  void install();
  /// The installed object; stops the process if there is none.
  static CellExchange& installed();

  /// Receives the displays of px::display(), at once.
  void on_display(Display display);
  void show(MimeBundle bundle, bool is_value);
  /// Receives the displays that have a name: new ones, or replacements of earlier ones.
  struct DisplayName {
    std::string id;
    bool is_update = false;
  };
  using NamedDisplay = std::function<void(const MimeBundle&, const DisplayName&)>;
  void on_named_display(NamedDisplay display);
  void show_as(MimeBundle bundle, const DisplayName& name);
  /// Called by px::clear_output().
  void on_clear(std::function<void(bool waits)> clear);
  void clear_output(bool waits);
  /// Returns names for px::variables(), a line each.
  void on_variables(std::function<std::string()> names) { variables_ = std::move(names); }
  std::string variables() const { return variables_ ? variables_() : std::string(); }
  /// Information about the types of cells, by their names. Any thread may call both.
  struct Types {
    /// The enumerator of this value; "" if there is none.
    std::function<std::string(const std::string& type, long long value)> enumerator = {};
    /// The names of the members, a line each.
    std::function<std::string(const std::string& type)> members = {};
  };
  void on_types(Types types) { types_ = std::move(types); }
  std::string enumerator(const std::string& type, long long value) const {
    return types_.enumerator ? types_.enumerator(type, value) : std::string();
  }
  std::string members(const std::string& type) const {
    return types_.members ? types_.members(type) : std::string();
  }
  /// The value of the latest cell, if it had one; forgets it.
  std::optional<MimeBundle> take_shown();

  /// Values for the code that runs next; answers that were not taken are forgotten.
  void put_arguments(std::vector<CellArguments::Argument> arguments);
  CellArguments& arguments() { return *arguments_; }
  CellAnswer& answer(std::size_t index) { return answers_[index]; }
  std::optional<Value> take_answer(std::size_t index) { return answers_[index].take(); }
  /// Forgets the received values; memory that cells keep stays valid.
  void drop_arguments();

  /// Compiled code, called again by its number.
  void bind(int number, void (*code)()) { code_[number] = code; }
  void (*bound(int number) const)();

  /// Answers of at least this size are copied before anything else runs: see NativeRequest.
  std::size_t copied_from = std::numeric_limits<std::size_t>::max();

  /// Whether a task of several ranks runs.
  bool is_in_gang = false;

  // %time
  long long begun_ns = 0;
  long long begun_cpu_ns = 0;

 private:
  std::mutex mutex_;  // guards display_, named_display_, clear_ and shown_
  Display display_;
  NamedDisplay named_display_;
  Types types_;
  std::function<void(bool)> clear_;
  std::function<std::string()> variables_;
  std::optional<MimeBundle> shown_;
  std::unique_ptr<CellArguments> arguments_ = std::make_unique<CellArguments>();
  std::map<std::size_t, CellAnswer> answers_;
  std::map<int, void (*)()> code_;
};

}  // namespace px::cpp
