#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px {

/// What an engine or a kernel runs.
enum class Language { python, cpp };

/// "python", "cpp".
std::string_view name_of(Language language);

/// "c++" means "cpp".
std::optional<Language> language_by_name(std::string_view name);

/// Which language each engine of one start speaks, as --language says it: "python", "cpp", or for
/// a mixed cluster "python:2,cpp:2", by rank. The last one may go without a number: "python:1,cpp"
/// means that all but the first speak C++. A value.
class LanguagePlan {
 public:
  /// errors  bad_input: an unknown language or a bad number; says which are known.
  static Result<LanguagePlan> parse(std::string_view text);

  /// The language of the engine with this rank, or index in the order of the start.
  /// errors  bad_input: the plan is for fewer.
  Result<Language> of(int index) const;

  /// How many engines it is for; nothing where any number will do.
  std::optional<int> count() const;
  /// Whether it fits to so many engines.  errors  bad_input: says both numbers.
  Result<void> check_count(int engines) const;

 private:
  struct Part {
    Language language;
    std::optional<int> count;  ///< Nothing = all others; only in the last part.
  };
  std::vector<Part> parts_;
};

}  // namespace px
