#include "engine/mpi/watched_cells.hpp"

#include <string_view>

#include "engine/mpi/stable_hash.hpp"
#include "interpreters/utf8.hpp"

namespace px::engine {
namespace {

constexpr std::size_t longest_reason = 160;

/// What an error is called where others are told of it: one line.
std::string describe(const Json& error) {
  std::string text = "raised " + string_member(error, "ename").value_or("an error");
  const std::string value = string_member(error, "evalue").value_or("");
  if (!value.empty()) text += ": " + value.substr(0, value.find('\n'));
  text.resize(interpreters::whole_characters(std::string_view(text).substr(0, longest_reason)));
  return text;
}

std::uint64_t number_of(const std::vector<SharedBytes>& buffers, std::string_view text) {
  // A function that is sent to many is the same on all; its arguments may not be.
  constexpr std::size_t looked_at = 4096;
  if (buffers.size() > 1) text = buffers[1].bytes;
  return stable_hash(text.substr(0, looked_at));
}

}  // namespace

Json WatchedCells::execute(const interpreters::Execution& execution) {
  if (!watch_.begin) return watched_.execute(execution);
  watch_.begin(stable_hash(execution.code));
  Json reply = watched_.execute(execution);
  const bool is_ok = string_member(reply, "status") == "ok";
  watch_.end(is_ok ? std::nullopt : std::optional(describe(reply)));
  return reply;
}

template <typename Work>
interpreters::ApplyResult WatchedCells::run(std::uint64_t number, const Work& work) {
  if (!watch_.begin) return work();
  watch_.begin(number);
  interpreters::ApplyResult result = work();
  std::optional<std::string> failure;
  if (!result.is_ok && !result.is_unmet_dependency) {
    const Result<Json> content = unpack(Packer::json, result.content);
    failure = describe(content ? *content : Json::object());
  }
  watch_.end(failure);
  return result;
}

interpreters::ApplyResult WatchedCells::apply(const interpreters::Application& application) {
  return run(number_of(application.buffers, ""), [&] { return watched_.apply(application); });
}

interpreters::ApplyResult WatchedCells::serve(const interpreters::NativeRequest& request) {
  return run(number_of(request.buffers, request.content), [&] { return watched_.serve(request); });
}

}  // namespace px::engine
