#include "client/error.hpp"

#include <algorithm>
#include <utility>

#include "client/targets.hpp"

namespace px::client {
namespace {

/// At most so many failures are named in one sentence.
constexpr std::size_t max_named = 4;

ErrorKind kind_of(const Failure& failure) {
  if (failure.name == "EngineError") return ErrorKind::lost_peer;
  if (failure.name == "Overloaded") return ErrorKind::overloaded;
  return ErrorKind::bad_input;
}

std::string one_line(const Failure& failure, std::vector<EngineId> engines) {
  std::sort(engines.begin(), engines.end());
  engines.erase(std::unique(engines.begin(), engines.end()), engines.end());
  std::string text;
  if (!engines.empty()) {
    text = "[" + name_engines(engines);
    if (!failure.method.empty()) text += ":" + failure.method;
    text += "] ";
  }
  text += failure.name;
  if (!failure.value.empty()) text += ": " + failure.value;
  return text;
}

/// A failure with all engines that had it.
struct Common {
  const Failure* failure;
  std::vector<EngineId> engines;
  std::size_t count;
};

std::vector<Common> in_common(const std::vector<Failure>& failures) {
  std::vector<Common> all;
  for (const Failure& failure : failures) {
    auto same = std::find_if(all.begin(), all.end(), [&](const Common& other) {
      return other.failure->name == failure.name && other.failure->value == failure.value &&
             other.failure->method == failure.method;
    });
    if (same == all.end()) same = all.insert(same, {&failure, {}, 0});
    if (failure.engine) same->engines.push_back(*failure.engine);
    ++same->count;
  }
  return all;
}

std::string text_of_failures(const std::vector<Failure>& failures) {
  std::string text = std::to_string(failures.size()) +
                     (failures.size() == 1 ? " request failed: " : " requests failed: ");
  std::size_t left = failures.size(), named = 0;
  for (const auto& [failure, engines, count] : in_common(failures)) {
    if (named == max_named) break;
    text += (named++ > 0 ? "; " : "") + one_line(*failure, engines);
    left -= count;
  }
  return left == 0 ? text : text + "; and " + std::to_string(left) + " more";
}

}  // namespace

std::string one_line(const Failure& failure) {
  return one_line(failure, failure.engine ? std::vector{*failure.engine} : std::vector<EngineId>{});
}

RemoteError::RemoteError(Failure failure)
    : ClientError(kind_of(failure), one_line(failure)), failure_(std::move(failure)) {}

CompositeError::CompositeError(std::vector<Failure> failures)
    : ClientError(kind_of(failures.at(0)), text_of_failures(failures)),
      failures_(std::move(failures)) {}

}  // namespace px::client
