#include <px/kernel/request_queue.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <px/wire/session.hpp>

namespace px::kernel {
namespace {

constexpr std::array<std::string_view, 5> order_types{
    "interrupt_request", "shutdown_request", "debug_request", "usage_request", "connect_request"};

constexpr std::array<std::string_view, 10> work_types{
    "execute_request",     "complete_request",    "inspect_request",
    "is_complete_request", "kernel_info_request", "comm_info_request",
    "history_request",     "comm_open",           "comm_msg",
    "comm_close"};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// busy, then `middle`, then idle: the frame around every answer.
std::vector<Effect> surrounded(const RequestPtr& request, std::vector<Effect> middle) {
  std::vector<Effect> effects{PublishStatus{request, true}};
  for (Effect& effect : middle) effects.push_back(std::move(effect));
  effects.push_back(PublishStatus{request, false});
  return effects;
}

/// A debugger asks in the Debug Adapter Protocol, and is refused in it.
Json debug_refusal(const Json& request) {
  return {{"type", "response"},
          {"request_seq", int_member(request, "seq").value_or(0)},
          {"success", false},
          {"command", string_member(request, "command").value_or("")},
          {"message", "this kernel has no debugger"}};
}

}  // namespace

std::string reply_type_of(const Request& request) {
  std::string type = request.type();
  constexpr std::string_view ending = "_request";
  if (type.ends_with(ending)) type.resize(type.size() - ending.size());
  return type + "_reply";
}

bool RequestQueue::is_order(const Request& request) const {
  const std::string& type = request.type();
  if (contains(order_types, type)) return true;
  return type == "kernel_info_request" && request.channel == Channel::control && kernel_info_;
}

std::vector<Effect> RequestQueue::arrive(RequestPtr request) {
  const bool is_urgent = request->channel == Channel::control;
  if (is_urgent && is_order(*request)) return answer(request);
  if (!is_order(*request) && !contains(work_types, request->type()))
    return surrounded(request,
                      {Warn{"ignoring a message of the unknown type '" + request->type() + "'"},
                       SendReply{request, error_content("NotImplementedError",
                                                        "this kernel does not know the request " +
                                                            request->type())}});
  (is_urgent ? urgent_ : work_).push_back({std::move(request)});
  return {WakeMain{}};
}

std::optional<Job> RequestQueue::take() {
  std::deque<Job>& lane = urgent_.empty() ? work_ : urgent_;
  if (lane.empty()) return std::nullopt;
  Job job = std::move(lane.front());
  lane.pop_front();
  running_ = job.request;
  return job;
}

std::vector<Effect> RequestQueue::answer(const RequestPtr& request) const {
  const Result<Json> content = unpack(Packer::json, request->envelope.content);
  if (!content) return surrounded(request, {Warn{content.error().what}});
  const std::string& type = request->type();
  if (type == "usage_request") return surrounded(request, {AnswerUsage{request}});
  if (type == "kernel_info_request")
    return surrounded(request, {SendReply{request, *kernel_info_}});
  if (type == "connect_request") return surrounded(request, {SendReply{request, connection_info_}});
  if (type == "debug_request")
    return surrounded(request, {SendReply{request, debug_refusal(*content)}});
  if (type == "interrupt_request")
    return surrounded(request, {SendReply{request, {{"status", "ok"}}}, Interrupt{}});
  const bool is_restart = bool_member(*content, "restart").value_or(false);
  std::vector<Effect> effects =
      surrounded(request, {SendReply{request, {{"status", "ok"}, {"restart", is_restart}}}});
  effects.push_back(Stop{request, is_restart});
  return effects;
}

std::vector<Effect> RequestQueue::answer_aborted(const RequestPtr& request) {
  return surrounded(request, {SendReply{request, {{"status", "aborted"}}}});
}

void RequestQueue::abort_queued_executions() {
  for (Job& job : work_)
    if (job.request->type() == "execute_request") job.is_aborted = true;
}

}  // namespace px::kernel
