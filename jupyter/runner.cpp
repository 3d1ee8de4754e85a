#include "jupyter/runner.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <utility>

#include "jupyter/work_text.hpp"
#include "wire/message_type.hpp"
#include "wire/session.hpp"

namespace px::jupyter {
namespace {

/// xeus would lose what these say beyond its own idea of them.
bool is_served_directly(const std::string& type) {
  return type.starts_with("comm_") || type == "history_request";
}

bool has_reply(const std::string& type) {
  return type.ends_with("_request");
}

/// What is being thrown: for a catch clause.
std::string text_of_exception() {
  try {
    throw;
  } catch (const std::exception& exception) {
    const char* const text = exception.what();
    return text ? text : "an exception without a text";
  } catch (...) {
    return "an exception of an unknown type";
  }
}

}  // namespace

std::vector<SharedBytes> buffers_of(const RequestPtr& request) {
  std::vector<SharedBytes> buffers;
  for (std::size_t i = request->envelope.first_buffer; i < request->frames->size(); ++i)
    buffers.push_back({request->frames->at(i), request->frames});
  return buffers;
}

std::string json_text(const Request& request, std::string_view part) {
  if (request.packer == Packer::json) return std::string(part);
  const Result<Json> content = unpack(request.packer, part);
  return content ? pack(Packer::json, *content) : "{}";
}

Runner::Runner(interpreters::Interpreter& interpreter, Queues& queues, const ReplyFormats& formats,
               RunnerOptions options)
    : interpreter_(interpreter),
      queues_(queues),
      formats_(formats),
      handlers_(std::move(options.handlers)),
      xeus_(interpreter, queues, formats, options.publishes_input) {
  queues.requests.set_kernel_info(xeus_.kernel_info());
  queues.outgoing.publish_status(nullptr, "starting");
}

void Runner::run(const std::function<void(int descriptor)>& idle) {
  while (const std::optional<Job> job = queues_.requests.wait(idle)) {
    const std::optional<Instant> began = queues_.spans.begin();
    serve(*job);
    if (began) add_span(*job, *began);  // before it is finished: a trace that ends now finds either
    queues_.outgoing.end_request();
    queues_.requests.finish(queues_.outgoing.has_failed());
  }
}

void Runner::add_span(const Job& job, Instant began) {
  const Request& request = *job.request;
  const Instant now = Clock::now();
  const Duration waited = (wall_now() - job.arrived) - (now - began);
  queues_.spans.add({.kind = "request",
                     .name = describe_work(request),
                     .began = began,
                     .ended = now,
                     .details = {{"msg_id", request.header.msg_id.text},
                                 {"type", request.type()},
                                 {"session", request.header.session.text},
                                 {"sent", request.header.date},
                                 {"bytes", total_bytes(*request.frames)},
                                 {"queued_ns", std::max(waited, Duration::zero()).count()}}});
}

void Runner::serve(const Job& job) {
  const RequestPtr& request = job.request;
  RequestInbox& requests = queues_.requests;
  interpreter_.before_request();
  if (job.is_aborted) return queues_.outgoing.perform(request, requests.answer_aborted(request));
  if (requests.is_order(*request))
    return queues_.outgoing.perform(request, requests.answer(request));
  queues_.outgoing.set_request(request);
  if (requests.begin()) ::raise(SIGINT);
  std::string why;
  try {
    serve_work(request);
    if (queues_.outgoing.is_answered() || !has_reply(request->type())) return;
    why = "it got no answer";
  } catch (...) {
    why = text_of_exception();
  }
  end_failed(request, why);
}

void Runner::serve_work(const RequestPtr& request) {
  if (const auto found = handlers_.find(request->type()); found != handlers_.end())
    return found->second(request);
  const Result<Json> content = unpack(request->packer, request->envelope.content);
  if (!content) return refuse_content(request, content.error());
  if (is_served_directly(request->type())) return serve_directly(request, *content);
  serve_by_xeus(request, *content);
}

/// No client is to wait for ever for the answer to a request that failed inside of our code.
void Runner::end_failed(const RequestPtr& request, const std::string& why) {
  const std::string& type = request->type();
  OutgoingQueue& outgoing = queues_.outgoing;
  spdlog::error("{} failed: {}", type, why);
  queues_.inputs.set_allowed(false);
  const ReplyFormat& format = formats_.of(request);
  if (has_reply(type) && !outgoing.is_answered()) {
    Json content = error_content(
        "InternalError", format.name() + " could not serve this " + type + ": " + why +
                             "; this is an error of polyxeus, not of your code: please report it");
    format.describe_error(content, method_of(type));
    outgoing.reply(request, pack(Packer::json, content),
                   format.reply_metadata(*request, {"error", wall_now()}));
  }
  if (format.publishes_status(type)) outgoing.publish_status(request, "idle");
}

void Runner::serve_by_xeus(const RequestPtr& request, const Json& content) {
  queues_.inputs.set_allowed(request->type() == "execute_request" &&
                             formats_.of(request).may_ask_user() &&
                             bool_member(content, "allow_stdin").value_or(true));
  xeus_.serve(request, content);
  queues_.inputs.set_allowed(false);
}

void Runner::serve_directly(const RequestPtr& request, const Json& content) {
  OutgoingQueue& outgoing = queues_.outgoing;
  const std::string& type = request->type();
  outgoing.publish_status(request, "busy");
  if (type == "history_request")
    outgoing.reply(request, pack(Packer::json, interpreter_.history(content)));
  else if (type == "comm_info_request")
    outgoing.reply(request, pack(Packer::json, interpreter_.comm_info(content)));
  else
    interpreter_.comm(
        {type, content, json_text(*request, request->envelope.metadata), buffers_of(request)});
  outgoing.publish_status(request, "idle");
}

void Runner::refuse_content(const RequestPtr& request, const Error& error) {
  Json content = error_content("ValueError", error.what);
  formats_.of(request).describe_error(content, "request");
  queues_.outgoing.publish_status(request, "busy");
  queues_.outgoing.reply(request, pack(Packer::json, content));
  queues_.outgoing.publish_status(request, "idle");
}

}  // namespace px::jupyter
