#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wire/error.hpp"
#include "wire/ids.hpp"

namespace px::client {

/// Which engines are meant. A value; it is resolved against those that are present.
class Targets {
 public:
  /// All engines that are there at the time of each use.
  static Targets all() { return Targets{All{}}; }
  /// These engines, in this order.
  static Targets ids(std::vector<EngineId> ids) { return Targets{std::move(ids)}; }
  /// By their places in the sorted list of ids, as Python slices: begin, end and step may be
  /// absent, begin and end negative.
  struct Slice {
    std::optional<long> begin;  ///< The first place.
    std::optional<long> end;    ///< Behind the last one.
    std::optional<long> step;   ///< From one to the next; below 0: backwards.
  };
  /// Part of the engines that are there at the time of each use.
  static Targets slice(Slice slice) { return Targets{slice}; }

  /// Reads "all", "3", "-1" (the last one), "0:4", "::2", "0,2,5:8" and the same in brackets.
  /// errors  bad_input: names the part that is none of them.
  static Result<Targets> parse(std::string_view text);

  /// Whether all engines are meant.
  bool is_all() const { return std::holds_alternative<All>(what_); }

  /// The engines that are meant.
  /// present  the ids of the engines that are there, ascending.
  /// errors   not_found: no engine is there, or one that was named is not: names those that are.
  Result<std::vector<EngineId>> resolve(const std::vector<EngineId>& present) const;

 private:
  struct All {};
  using Parts = std::vector<Targets>;  // one behind the other
  using What = std::variant<All, std::vector<EngineId>, Slice, Parts>;
  explicit Targets(What what) : what_(std::move(what)) {}
  What what_;
};

/// "0, 1, 2 and 5", ranges of three and more as "0-7"; for sentences and labels.
std::string name_engines(const std::vector<EngineId>& ids);

/// "there are 0-7", "there is only 3": who is there, in sentences about who is not.
std::string say_who_is_there(const std::vector<EngineId>& present);

}  // namespace px::client
