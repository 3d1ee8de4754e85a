#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wire/error.hpp"
#include "wire/ids.hpp"

namespace px::client {

/// Selects engines: all, a list of ids, or a slice. The selection is converted to a list of ids
/// only when it is used, with the engines that are present at that time. So a view of all engines
/// includes engines that join later.
class Targets {
 public:
  /// All engines. At each use, these are the engines that are present.
  static Targets all() { return Targets{All{}}; }
  /// These engines, in this order.
  static Targets ids(std::vector<EngineId> ids) { return Targets{std::move(ids)}; }
  /// A slice of the sorted list of ids, with the same meaning as a slice in Python: begin, end and
  /// step may be absent, and begin and end may be negative.
  struct Slice {
    std::optional<long> begin;  ///< The index of the first id.
    std::optional<long> end;    ///< The index after the last one.
    std::optional<long> step;   ///< The distance between two ids; below 0: backwards; never 0.
  };
  /// A slice of the engines that are present. The slice is computed again at each use.
  static Targets slice(Slice slice) { return Targets{slice}; }

  /// Reads a text that a user has typed: "all", "3", "-1" (the last engine), "0:4", "::2" or
  /// "0,2,5:8". The text may be in brackets.
  /// errors  bad_input: the message names the malformed part.
  static Result<Targets> parse(std::string_view text);

  /// Whether these targets are all engines.
  bool is_all() const { return std::holds_alternative<All>(what_); }

  /// The ids of the selected engines. An id occurs twice if it was named twice.
  /// present  the ids of the engines that are present, ascending.
  /// errors   not_found: no engine is present, or a named engine is not present; the message names
  ///          the engines that are present.
  Result<std::vector<EngineId>> resolve(const std::vector<EngineId>& present) const;

 private:
  struct All {};
  using Parts = std::vector<Targets>;  // in this order
  using What = std::variant<All, std::vector<EngineId>, Slice, Parts>;
  explicit Targets(What what) : what_(std::move(what)) {}
  What what_;
};

/// The ids as text for a sentence: "0, 1 and 5". Three or more consecutive ids become a range, such
/// as "0-7".
std::string name_engines(const std::vector<EngineId>& ids);
/// The ids as text for a sentence, after the word "engine" or "engines": "engine 3", "engines 0 and
/// 1".
std::string say_engines(const std::vector<EngineId>& ids);

/// The engines that are present, as text for an error message about an engine that is not present:
/// "there are 0-7", "there is only 3".
std::string say_who_is_there(const std::vector<EngineId>& present);

}  // namespace px::client
