#include "wire/language_plan.hpp"

#include <array>

#include "wire/text.hpp"

namespace px {
namespace {

constexpr std::array<Language, 2> languages{Language::python, Language::cpp};
constexpr int most_engines = 1'000'000;

Error bad_plan(std::string_view text, const std::string& why) {
  return {ErrorKind::bad_input, "--language=" + std::string(text) + ": " + why +
                                    "; write python or cpp, or the number of engines of each, "
                                    "as in python:2,cpp:2"};
}

std::optional<int> positive_number(std::string_view text) {
  const std::optional<int> value = read_whole_number(text);
  return value && *value > 0 && *value <= most_engines ? value : std::nullopt;
}

}  // namespace

std::string_view name_of(Language language) {
  return language == Language::cpp ? "cpp" : "python";
}

std::optional<Language> language_by_name(std::string_view name) {
  for (const Language language : languages)
    if (name == name_of(language)) return language;
  if (name == "c++" || name == "C++") return Language::cpp;
  return std::nullopt;
}

Result<LanguagePlan> LanguagePlan::parse(std::string_view text) {
  LanguagePlan plan;
  for (const std::string_view part : split(text, ',')) {
    if (!plan.parts_.empty() && !plan.parts_.back().count)
      return bad_plan(text, "only the last language may have no number");
    const std::size_t colon = part.find(':');
    const std::string_view name = part.substr(0, colon);
    const std::optional<Language> language = language_by_name(name);
    if (!language) return bad_plan(text, "unknown language '" + std::string(name) + "'");
    std::optional<int> count;
    if (colon != std::string_view::npos) {
      count = positive_number(part.substr(colon + 1));
      if (!count)
        return bad_plan(text,
                        "'" + std::string(part.substr(colon + 1)) + "' is not a number of engines");
    }
    plan.parts_.push_back({*language, count});
  }
  return plan;
}

Result<Language> LanguagePlan::of(int index) const {
  int behind = 0;
  for (const Part& part : parts_) {
    if (!part.count) return part.language;
    behind += *part.count;
    if (index < behind) return part.language;
  }
  return Error{ErrorKind::bad_input, "--language is for " + std::to_string(behind) +
                                         " engines, but this engine has rank " +
                                         std::to_string(index)};
}

std::optional<int> LanguagePlan::count() const {
  int all = 0;
  for (const Part& part : parts_) {
    if (!part.count) return std::nullopt;
    all += *part.count;
  }
  return all;
}

Result<void> LanguagePlan::check_count(int engines) const {
  const std::optional<int> planned = count();
  if (planned && *planned != engines)
    return Error{ErrorKind::bad_input, "--language is for " + std::to_string(*planned) +
                                           " engines, but " + std::to_string(engines) +
                                           " engines were requested: give both the same number, or "
                                           "leave -n out"};
  return {};
}

}  // namespace px
