#include "engine/handlers.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "os/segments/segment.hpp"
#include "wire/message_type.hpp"
#include "wire/pieces.hpp"

namespace px::engine {
namespace {

/// The content of a request, with its gang as a further member.
std::string with_gang(std::string content, const Request& request) {
  const std::optional<Json> gang = gang_in(request);
  if (!gang) return content;
  const std::size_t begin = content.find('{') + 1;  // its first member follows
  return content.insert(begin, "\"gang\":" + pack(Packer::json, *gang) + ",");
}

/// The error's content with `engine_info`, which the interpreter does not know.
std::string with_engine_info(const std::string& content, const EngineFormat& format,
                             std::string_view method) {
  Result<Json> error = unpack(Packer::json, content);
  if (!error) return content;
  format.describe_error(*error, method);
  return pack(Packer::json, *error);
}

struct Serving {
  interpreters::Interpreter& interpreter;
  jupyter::OutgoingQueue& outgoing;
  const EngineFormat& format;
  LargeReplies large;

  void apply(const RequestPtr& request) const {
    const WallTime started = wall_now();
    outgoing.publish_status(request, "busy");
    interpreters::ApplyResult result = interpreter.apply({jupyter::buffers_of(request)});
    const jupyter::Outcome outcome{result.is_ok ? "ok" : "error", started,
                                   result.is_unmet_dependency};
    if (!result.is_ok) result.content = with_engine_info(result.content, format, "apply");
    outgoing.reply(request, std::move(result.content), format.reply_metadata(*request, outcome),
                   std::move(result.buffers));
    outgoing.publish_status(request, "idle");
  }

  void serve_native(const RequestPtr& request) const {
    const std::string& type = request->type();
    const WallTime started = wall_now();
    std::string content =
        with_gang(jupyter::json_text(*request, request->envelope.content), *request);
    std::vector<SharedBytes> buffers = join_pieces(content, jupyter::buffers_of(request));
    interpreters::NativeRequest native{type, std::move(content), std::move(buffers)};
    const bool shares_memory =
        large.segments && large.segments->folder().has(request->header.session.text);
    if (shares_memory) native.copied_from = os::least_segment_bytes;
    interpreters::ApplyResult result = interpreter.serve(native);
    const jupyter::Outcome outcome{result.is_ok ? "ok" : "error", started,
                                   result.is_unmet_dependency, outgoing.flush_publications()};
    if (!result.is_ok) result.content = with_engine_info(result.content, format, method_of(type));
    std::string metadata = format.reply_metadata(*request, outcome);
    const bool has_room = shares_memory && copy_large(*request, result.buffers, metadata);
    if (!has_room && is_fetched(*request, shares_memory)) hold_large(result.buffers, metadata);
    Pieces pieces{std::move(result.content), std::move(result.buffers)};
    if (large.cuts) pieces = cut_pieces(std::move(pieces.content), std::move(pieces.buffers));
    outgoing.reply(request, std::move(pieces.content), std::move(metadata),
                   std::move(pieces.buffers));
  }

  /// Whether its client fetches large buffers in pieces: over networks, and where shared memory has
  /// no room, so that the controller never holds all of them.
  bool is_fetched(const Request& request, bool shares_memory) const {
    if (!large.held) return false;
    const auto fetching = os::read_fetching(request.packer, request.envelope.metadata);
    return fetching && (*fetching || large.is_far || shares_memory);
  }

  /// They stay here until the client has fetched them.
  void hold_large(std::vector<SharedBytes>& buffers, std::string& metadata) const {
    if (const auto held = large.held->take(buffers, Clock::now()))
      metadata = os::with_held(std::move(metadata), *held);
  }

  /// Into shared memory, or elsewhere where that has no room: the user's code may change them.
  /// Whether it had room for those that are large.
  bool copy_large(const Request& request, std::vector<SharedBytes>& buffers,
                  std::string& metadata) const {
    if (auto placed = large.segments->place_for(request.header.session.text, buffers)) {
      metadata = os::with_segments(std::move(metadata), placed->indexes);
      buffers = std::move(placed->buffers);
    }
    if (const auto complaint = large.segments->take_complaint()) spdlog::warn(*complaint);
    bool has_room = true;
    for (SharedBytes& buffer : buffers) {
      if (buffer.bytes.size() < os::least_segment_bytes) continue;
      buffer = owned_bytes(std::string(buffer.bytes));
      has_room = false;
    }
    return has_room;
  }

  void clear(const RequestPtr& request) const {
    outgoing.publish_status(request, "busy");
    interpreter.clear();
    outgoing.reply(request, "{\"status\": \"ok\"}");
    outgoing.publish_status(request, "idle");
  }
};

}  // namespace

std::map<std::string, jupyter::Handler> engine_handlers(interpreters::Interpreter& interpreter,
                                                        jupyter::OutgoingQueue& outgoing,
                                                        const EngineFormat& format,
                                                        LargeReplies large) {
  const Serving serving{interpreter, outgoing, format, std::move(large)};
  const auto native = [serving](const RequestPtr& request) { serving.serve_native(request); };
  return {{"apply_request", [serving](const RequestPtr& request) { serving.apply(request); }},
          {"clear_request", [serving](const RequestPtr& request) { serving.clear(request); }},
          {"push_request", native},
          {"pull_request", native},
          {"call_request", native}};
}

}  // namespace px::engine
