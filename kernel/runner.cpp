#include <px/kernel/runner.hpp>

#include <utility>

#include <px/wire/session.hpp>

namespace px::kernel {
namespace {

std::vector<SharedBytes> buffers_of(const RequestPtr& request) {
  std::vector<SharedBytes> buffers;
  for (std::size_t i = request->envelope.first_buffer; i < request->frames->size(); ++i)
    buffers.push_back({request->frames->at(i), request->frames});
  return buffers;
}

/// xeus would lose what these say beyond its own idea of them.
bool is_served_directly(const std::string& type) {
  return type.starts_with("comm_") || type == "history_request";
}

}  // namespace

Runner::Runner(Interpreter& interpreter, Server& server)
    : interpreter_(interpreter),
      server_(server),
      xeus_(interpreter, server.requests(), server.outbox()) {
  server.requests().set_kernel_info(interpreter.kernel_info());
}

void Runner::run(const std::function<void(int descriptor)>& idle) {
  server_.outbox().publish_status(nullptr, "starting");
  while (const std::optional<Job> job = server_.requests().wait(idle)) {
    serve(*job);
    server_.requests().finish();
  }
}

void Runner::serve(const Job& job) {
  const RequestPtr& request = job.request;
  Outbox& outbox = server_.outbox();
  interpreter_.before_request();
  if (job.is_aborted) return outbox.perform(RequestQueue::answer_aborted(request));
  if (server_.requests().is_order(*request))
    return outbox.perform(server_.requests().answer(request));
  outbox.set_request(request);
  Result<Json> content = unpack(Packer::json, request->envelope.content);
  if (!content) {
    outbox.publish_status(request, "busy");
    outbox.reply(request, pack(Packer::json, error_content("ValueError", content.error().what)));
    return outbox.publish_status(request, "idle");
  }
  if (is_served_directly(request->type())) return serve_directly(request, *content);
  server_.inputs().set_allowed(request->type() == "execute_request" &&
                               bool_member(*content, "allow_stdin").value_or(true));
  xeus_.serve(request, std::move(*content));
  server_.inputs().set_allowed(false);
}

void Runner::serve_directly(const RequestPtr& request, const Json& content) {
  Outbox& outbox = server_.outbox();
  const std::string& type = request->type();
  outbox.publish_status(request, "busy");
  if (type == "history_request")
    outbox.reply(request, pack(Packer::json, interpreter_.history(content)));
  else if (type == "comm_info_request")
    outbox.reply(request, pack(Packer::json, interpreter_.comm_info(content)));
  else
    interpreter_.comm(
        {type, content, std::string(request->envelope.metadata), buffers_of(request)});
  outbox.publish_status(request, "idle");
}

}  // namespace px::kernel
