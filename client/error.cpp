#include <px/client/error.hpp>

#include <utility>

namespace px {
namespace {

/// At most so many failures are named in one sentence.
constexpr std::size_t max_named = 4;

ErrorKind kind_of(const Failure& failure) {
  if (failure.name == "EngineError") return ErrorKind::lost_peer;
  if (failure.name == "Overloaded") return ErrorKind::overloaded;
  return ErrorKind::bad_input;
}

std::string sentence(const std::vector<Failure>& failures) {
  std::string text = std::to_string(failures.size()) + " requests failed: ";
  for (std::size_t i = 0; i < failures.size() && i < max_named; ++i)
    text += (i > 0 ? "; " : "") + one_line(failures[i]);
  if (failures.size() > max_named)
    text += "; and " + std::to_string(failures.size() - max_named) + " more";
  return text;
}

}  // namespace

std::string one_line(const Failure& failure) {
  std::string text;
  if (failure.engine) {
    text = "[" + std::to_string(failure.engine->value);
    if (!failure.method.empty()) text += ":" + failure.method;
    text += "] ";
  }
  text += failure.name;
  if (!failure.value.empty()) text += ": " + failure.value;
  return text;
}

RemoteError::RemoteError(Failure failure)
    : ClientError(kind_of(failure), one_line(failure)), failure_(std::move(failure)) {}

CompositeError::CompositeError(std::vector<Failure> failures)
    : ClientError(kind_of(failures.at(0)), sentence(failures)), failures_(std::move(failures)) {}

}  // namespace px
