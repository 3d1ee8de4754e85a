#include <px/engine/runner.hpp>

#include <utility>

#include <px/wire/pieces.hpp>

namespace px {
namespace {

std::vector<SharedBytes> buffers_of(const RequestPtr& request) {
  std::vector<SharedBytes> buffers;
  for (std::size_t i = request->envelope.first_buffer; i < request->frames->size(); ++i)
    buffers.push_back({request->frames->at(i), request->frames});
  return buffers;
}

std::string json_content(Packer packer, const Request& request) {
  if (packer == Packer::json) return std::string(request.envelope.content);
  const Result<Json> content = unpack(packer, request.envelope.content);
  return content ? pack(Packer::json, *content) : "{}";
}

/// The error's content with `engine_info`, which the interpreter does not know.
std::string with_engine_info(const std::string& content, const EngineIdentity& identity,
                             std::string_view method) {
  Result<Json> error = unpack(Packer::json, content);
  if (!error) return content;
  (*error)["engine_info"] = engine_info(identity, method);
  return pack(Packer::json, *error);
}

}  // namespace

Runner::Runner(Interpreter& interpreter, Inbox& inbox, Outbox& outbox, Packer packer, bool cuts)
    : interpreter_(interpreter),
      inbox_(inbox),
      outbox_(outbox),
      packer_(packer),
      cuts_(cuts),
      xeus_(interpreter, inbox, outbox, packer) {}

void Runner::run(int signal_descriptor) {
  while (const std::optional<Job> job =
             inbox_.wait(signal_descriptor, [this] { interpreter_.on_wake(); })) {
    serve(*job);
    inbox_.finish();
  }
}

void Runner::serve(const Job& job) {
  const RequestPtr& request = job.request;
  const std::string& type = request->type();
  interpreter_.before_request();
  outbox_.set_request(request);
  if (job.is_aborted) return outbox_.perform(inbox_.answer_aborted(request));
  if (is_native_request(type)) return serve_native(request);
  if (type == "apply_request") return apply(request);
  if (Engine::is_order(type)) return outbox_.perform(inbox_.answer(request));
  if (type == "clear_request") return clear(request);
  if (type.starts_with("comm_")) return serve_comm(request);
  xeus_.serve(request);
}

void Runner::apply(const RequestPtr& request) {
  const WallTime started = wall_now();
  const EngineIdentity identity = inbox_.identity();
  outbox_.publish_status(request, "busy");
  ApplyResult result = interpreter_.apply({buffers_of(request)});
  const Outcome outcome{result.is_ok ? "ok" : "error", started, result.is_unmet_dependency};
  outbox_.reply(request, "apply_reply", reply_metadata(packer_, *request, identity, outcome),
                result.is_ok ? std::move(result.content)
                             : with_engine_info(result.content, identity, "apply"),
                std::move(result.buffers));
  outbox_.publish_status(request, "idle");
}

void Runner::serve_native(const RequestPtr& request) {
  const std::string& type = request->type();
  const WallTime started = wall_now();
  const EngineIdentity identity = inbox_.identity();
  std::string content = json_content(packer_, *request);
  std::vector<SharedBytes> buffers = join(content, buffers_of(request));
  ApplyResult result = interpreter_.serve({type, std::move(content), std::move(buffers)});
  const Outcome outcome{result.is_ok ? "ok" : "error", started, result.is_unmet_dependency,
                        outbox_.flush_publications()};
  if (!result.is_ok) result.content = with_engine_info(result.content, identity, method_of(type));
  Pieces pieces{std::move(result.content), std::move(result.buffers)};
  if (cuts_) pieces = cut(std::move(pieces.content), std::move(pieces.buffers));
  outbox_.reply(request, reply_type(type), reply_metadata(packer_, *request, identity, outcome),
                std::move(pieces.content), std::move(pieces.buffers));
}

void Runner::clear(const RequestPtr& request) {
  outbox_.publish_status(request, "busy");
  interpreter_.clear();
  outbox_.reply(request, "clear_reply", engine_metadata(inbox_.identity().uuid),
                "{\"status\": \"ok\"}");
  outbox_.publish_status(request, "idle");
}

void Runner::serve_comm(const RequestPtr& request) {
  const Result<Json> content = unpack(packer_, request->envelope.content);
  outbox_.publish_status(request, "busy");
  if (request->type() == "comm_info_request")
    outbox_.reply(request, "comm_info_reply", engine_metadata(inbox_.identity().uuid),
                  pack(Packer::json, interpreter_.comm_info(content ? *content : Json::object())));
  else if (content)
    interpreter_.comm({request->type(), *content, "{}", buffers_of(request)});
  outbox_.publish_status(request, "idle");
}

}  // namespace px
