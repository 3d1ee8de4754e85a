#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px {

/// The language whose code an engine or a kernel runs.
enum class Language { python, cpp };

/// Its name on the command line and on the wire: "python" or "cpp".
std::string_view name_of(Language language);

/// The language of that name; "c++" and "C++" mean cpp. Nothing for an unknown name.
std::optional<Language> language_by_name(std::string_view name);

/// The language of each engine of one start, in the form of the option --language: "python" or
/// "cpp" for all, or, for a mixed cluster, how many of each by rank: "python:2,cpp:2". The last
/// entry may omit its number and is used for all further engines: "python:1,cpp" means that all but
/// the first run C++. A value.
class LanguagePlan {
 public:
  /// errors  bad_input: an unknown language or a bad number; the message shows the right form.
  static Result<LanguagePlan> parse(std::string_view text);

  /// The language of the engine with this MPI rank, or without MPI with this position in the order
  /// of the start, from 0 on.
  /// errors  bad_input: the plan is for fewer engines.
  Result<Language> of(int index) const;

  /// The number of engines that the plan is for; nothing if it is for any number.
  std::optional<int> count() const;
  /// Checks that the plan is for this number of engines.
  /// errors  bad_input: it is for another number; the message gives both.
  Result<void> check_count(int engines) const;

 private:
  struct Part {
    Language language;
    std::optional<int> count;  ///< Nothing: all others; only in the last part.
  };
  std::vector<Part> parts_;
};

}  // namespace px
