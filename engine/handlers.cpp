#include "engine/handlers.hpp"

#include <utility>

#include "wire/message_type.hpp"
#include "wire/pieces.hpp"

namespace px::engine {
namespace {

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
  bool cuts;

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
    std::string content = jupyter::json_text(*request, request->envelope.content);
    std::vector<SharedBytes> buffers = join(content, jupyter::buffers_of(request));
    interpreters::ApplyResult result =
        interpreter.serve({type, std::move(content), std::move(buffers)});
    const jupyter::Outcome outcome{result.is_ok ? "ok" : "error", started,
                                   result.is_unmet_dependency, outgoing.flush_publications()};
    if (!result.is_ok) result.content = with_engine_info(result.content, format, method_of(type));
    Pieces pieces{std::move(result.content), std::move(result.buffers)};
    if (cuts) pieces = cut(std::move(pieces.content), std::move(pieces.buffers));
    outgoing.reply(request, std::move(pieces.content), format.reply_metadata(*request, outcome),
                   std::move(pieces.buffers));
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
                                                        const EngineFormat& format, bool cuts) {
  const Serving serving{interpreter, outgoing, format, cuts};
  const auto native = [serving](const RequestPtr& request) { serving.serve_native(request); };
  return {{"apply_request", [serving](const RequestPtr& request) { serving.apply(request); }},
          {"clear_request", [serving](const RequestPtr& request) { serving.clear(request); }},
          {"push_request", native},
          {"pull_request", native},
          {"call_request", native}};
}

}  // namespace px::engine
