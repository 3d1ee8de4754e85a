#include "jupyter/request_queue.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include "wire/checked_json.hpp"
#include "wire/message_type.hpp"
#include "wire/session.hpp"

namespace px::jupyter {
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

struct SignalName {
  const char* name;
  int number;
};
constexpr std::array<SignalName, 20> signal_names{{
    {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ILL", SIGILL},   {"ABRT", SIGABRT},
    {"BUS", SIGBUS},   {"FPE", SIGFPE},   {"KILL", SIGKILL}, {"USR1", SIGUSR1}, {"SEGV", SIGSEGV},
    {"USR2", SIGUSR2}, {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"CHLD", SIGCHLD},
    {"CONT", SIGCONT}, {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"TTIN", SIGTTIN}, {"WINCH", SIGWINCH},
}};

/// A debugger asks in the Debug Adapter Protocol, and is refused in it.
Json debug_refusal(const Json& request) {
  return {{"type", "response"},
          {"request_seq", int_member(request, "seq").value_or(0)},
          {"success", false},
          {"command", string_member(request, "command").value_or("")},
          {"message", "this kernel has no debugger"}};
}

/// Whether the controller says so, as an engine that is lost may have begun this task.
bool goes_first(const Request& request) {
  constexpr std::string_view key = "goes_first";
  if (request.envelope.header.find(key) == std::string_view::npos) return false;
  const Result<Json> header = unpack(request.packer, request.envelope.header);
  return header && bool_member(*header, std::string(key)).value_or(false);
}

/// Which requests a signal_request means.
InterruptScope read_scope(const Request& request, const Json& content) {
  InterruptScope scope;
  if (bool_member(content, "spares_newer").value_or(false)) scope.newest = request.header.msg_id;
  if (const auto ids = strings_member(content, "msg_ids"))
    scope.msg_ids.emplace(ids->begin(), ids->end());
  return scope;
}

}  // namespace

bool InterruptScope::includes(const MessageId& msg_id) const {
  if (msg_ids) return msg_ids->contains(msg_id.text);
  return !newest || !was_made_after(msg_id, *newest);
}

std::optional<int> signal_number(const Json& value) {
  if (const auto number = read_integer<int>(value))
    return *number >= 0 && *number <= SIGRTMAX ? number : std::nullopt;
  if (!value.is_string()) return std::nullopt;
  std::string name = value.get<std::string>();
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (const SignalName& each : signal_names)
    if (name == each.name) return each.number;
  return std::nullopt;
}

// ---------------------------------------------------------------- what comes in and is taken

bool RequestQueue::is_order(const Request& request) const {
  const std::string& type = request.type();
  if (contains(order_types, type) || formats_.of(request).is_further_order(type)) return true;
  return type == "kernel_info_request" && request.channel == Channel::control && kernel_info_;
}

std::vector<Effect> RequestQueue::arrive(RequestPtr request, WallTime now) {
  const bool is_urgent = request->channel == Channel::control;
  if (is_urgent && is_order(*request)) return answer(request);
  const std::string& type = request->type();
  const ReplyFormat& format = formats_.of(request);
  if (!is_order(*request) && !contains(work_types, type) && !format.is_further_work(type))
    return refuse_type(request);
  if (is_urgent && !format.may_pass_the_queue(type))
    return surrounded(request, {Warn{"ignoring an " + type + " on the control channel"}});
  const std::size_t bytes = total_bytes(*request->frames);
  if (queued_bytes_ + bytes > max_queued_bytes_) return refuse_overload(request, now);
  queued_bytes_ += bytes;
  if (is_urgent)
    urgent_.push_back({.request = std::move(request), .arrived = now});
  else
    enqueue(std::move(request), now);
  return {WakeMain{}};
}

void RequestQueue::enqueue(RequestPtr request, WallTime now) {
  Job job{.request = std::move(request), .arrived = now};
  job.goes_first = goes_first(*job.request);
  job.number = next_number_++;
  const auto place = job.goes_first ? std::find_if(work_.begin(), work_.end(),
                                                   [](const Job& each) { return !each.goes_first; })
                                    : work_.end();
  work_.insert(place, std::move(job));
}

std::vector<Effect> RequestQueue::refuse_type(const RequestPtr& request) const {
  std::vector<Effect> effects{
      Warn{"ignoring a message of the unknown type '" + request->type() + "'"}};
  const ReplyFormat& format = formats_.of(request);
  if (format.refuses_unknown_types())
    effects.push_back(reply(
        request, error_content("NotImplementedError",
                               format.name() + " does not know the request " + request->type())));
  return surrounded(request, std::move(effects));
}

std::vector<Effect> RequestQueue::refuse_overload(const RequestPtr& request, WallTime now) const {
  const ReplyFormat& format = formats_.of(request);
  Json content = error_content(
      "Overloaded", format.name() + " holds " + std::to_string(queued_bytes_ >> 20) +
                        " MiB of requests already, and its limit is " +
                        std::to_string(max_queued_bytes_ >> 20) + " MiB: wait for results first");
  format.describe_error(content, "queue");
  return surrounded(request, {reply_without_run(request, content, "error", now)});
}

std::optional<Job> RequestQueue::take() {
  std::deque<Job>& lane = urgent_.empty() ? work_ : urgent_;
  if (lane.empty()) return std::nullopt;
  Job job = std::move(lane.front());
  lane.pop_front();
  queued_bytes_ -= total_bytes(*job.request->frames);
  if (aborted_.erase(job.request->header.msg_id.text) > 0) job.is_aborted = true;
  running_ = job.request;
  has_begun_ = false;
  interrupted_at_.reset();
  return job;
}

bool RequestQueue::begin(Instant now) {
  has_begun_ = true;
  began_ = now;
  return interrupted_at_.has_value();
}

void RequestQueue::count(bool is_failed, Instant now) {
  if (!running_ || !has_begun_) return;
  ++requests_;
  if (is_failed) ++errors_;
  durations_.add(now - began_);
}

WorkReport RequestQueue::take_report() {
  WorkReport report{queued(), {}, last_error_, requests_, errors_, std::exchange(durations_, {})};
  if (running_ && has_begun_) report.running = RunningWork{running_, began_};
  return report;
}

bool RequestQueue::interrupt(const InterruptScope& scope) {
  if (!running_ || !scope.includes(running_->header.msg_id)) return false;
  if (!interrupted_at_) interrupted_at_ = next_number_;
  return has_begun_;
}

bool RequestQueue::can_be_taken_back(const Job& job, std::size_t peer, std::size_t socket) const {
  return job.request->peer == peer && job.request->socket == socket && !job.is_aborted &&
         !aborted_.contains(job.request->header.msg_id.text);
}

RequestPtr RequestQueue::take_back(std::size_t peer, std::size_t socket, const MessageId& msg_id) {
  const auto found = std::find_if(work_.begin(), work_.end(), [&](const Job& job) {
    return job.request->header.msg_id == msg_id && can_be_taken_back(job, peer, socket);
  });
  if (found == work_.end()) return nullptr;
  RequestPtr request = std::move(found->request);
  work_.erase(found);
  queued_bytes_ -= total_bytes(*request->frames);
  return request;
}

std::vector<RequestPtr> RequestQueue::take_back_all(std::size_t peer, std::size_t socket) {
  std::vector<RequestPtr> taken;
  for (const Job& job : work_)
    if (can_be_taken_back(job, peer, socket)) taken.push_back(job.request);
  for (const RequestPtr& request : taken) take_back(peer, socket, request->header.msg_id);
  return taken;
}

void RequestQueue::abort_queued_executions(const RequestPtr& failed) {
  abort_executions(failed->peer, interrupted_at_.value_or(next_number_));
}

/// Those of this peer whose numbers are less than `end`.
void RequestQueue::abort_executions(std::size_t peer, std::size_t end) {
  for (Job& job : work_)
    if (job.number < end && job.request->type() == "execute_request" && job.request->peer == peer)
      job.is_aborted = true;
}

// ---------------------------------------------------------------- answers without the interpreter

std::vector<Effect> RequestQueue::answer(const RequestPtr& request) {
  const Result<Json> content = unpack(request->packer, request->envelope.content);
  if (!content) return refused(request, content.error().what);
  const std::string& type = request->type();
  if (type == "signal_request") return answer_signal(request, *content);
  if (type == "answer_request")
    return surrounded(request,
                      {PutInput{pack(Packer::json, *content)}, reply(request, {{"status", "ok"}})});
  if (type == "shutdown_request") return answer_shutdown(request, *content);
  if (type == "abort_request") return answer_abort(request, *content);
  if (type == "usage_request") return answer_usage(request, *content);
  if (type == "kernel_info_request") return replied(request, *kernel_info_);
  if (type == "connect_request") return replied(request, connect_reply_);
  if (type == "debug_request") return replied(request, debug_refusal(*content));
  return surrounded(request, {reply(request, {{"status", "ok"}}), Interrupt{{}}});
}

std::vector<Effect> RequestQueue::answer_usage(const RequestPtr& request,
                                               const Json& content) const {
  AnswerUsage answer{
      request, queued(), {}, bool_member(content, "place").value_or(false), last_error_};
  const Json& stacks = json_member(content, "stacks");
  if (stacks == true) answer.stacks = os::StackScope::all;
  if (stacks == "running") answer.stacks = os::StackScope::running_main;
  answer.asks_place = answer.asks_place || answer.stacks;
  if (running_ && has_begun_) answer.running = RunningWork{running_, began_};
  if (const auto trace = content.find("trace"); trace != content.end()) answer.trace = *trace;
  if (const auto output = content.find("output"); output != content.end()) answer.output = *output;
  if (answer.asks_place) return {PublishStatus{request, true}, std::move(answer)};
  return surrounded(request, {std::move(answer)});
}

std::vector<Effect> RequestQueue::answer_abort(const RequestPtr& request, const Json& content) {
  const auto ids = content.find("msg_ids");
  if (ids == content.end() || ids->is_null())
    return refused(request, "an abort_request names no msg_ids");
  remember_aborted(request, *ids);
  return replied(request, {{"status", "ok"}});
}

void RequestQueue::remember_aborted(const RequestPtr& request, const Json& ids) {
  if (ids.is_string()) {
    aborted_.insert(ids.get<std::string>());
    return;
  }
  if (ids.empty()) return abort_executions(request->peer, next_number_);
  // Ids that never come must not fill the memory: those that do not wait here are the old ones.
  if (aborted_.size() > max_aborted) aborted_.clear();
  for (const Json& id : ids)
    if (id.is_string()) aborted_.insert(id.get<std::string>());
}

std::vector<Effect> RequestQueue::answer_signal(const RequestPtr& request,
                                                const Json& content) const {
  const auto wanted = content.find("sig");
  const std::optional<int> number = wanted == content.end() ? std::nullopt : signal_number(*wanted);
  SendReply answer{request, "_request", "{}", "{\"status\": \"ok\"}"};
  if (number == SIGINT) return {answer, Interrupt{read_scope(*request, content)}};
  if (number) return {answer, RaiseSignal{*number}};
  const std::string given = wanted == content.end() ? "nothing" : pack(Packer::json, *wanted);
  Json error = error_content("ValueError", given + " is not a signal");
  formats_.of(request).describe_error(error, "signal");
  answer.content = pack(Packer::json, error);
  return {answer};
}

std::vector<Effect> RequestQueue::answer_shutdown(const RequestPtr& request,
                                                  const Json& content) const {
  const bool is_restart = bool_member(content, "restart").value_or(false);
  if (const auto why = formats_.of(request).why_no_shutdown()) {
    Json refusal = error_content("PermissionError", *why);
    refusal["restart"] = is_restart;
    return surrounded(request,
                      {Warn{"a client asks for a shutdown: " + *why}, reply(request, refusal)});
  }
  return {PublishStatus{request, true}, reply(request, {{"status", "ok"}, {"restart", is_restart}}),
          PublishShutdown{request, is_restart}, PublishStatus{request, false}, Stop{}};
}

std::vector<Effect> RequestQueue::answer_aborted(const RequestPtr& request, WallTime now) const {
  return surrounded(request, {reply_without_run(request, {{"status", "aborted"}}, "aborted", now)});
}

/// busy, then `middle`, then idle: the frame around every answer (protocol 5.2).
std::vector<Effect> RequestQueue::surrounded(const RequestPtr& request,
                                             std::vector<Effect> middle) const {
  if (!formats_.of(request).publishes_status(request->type())) return middle;
  std::vector<Effect> effects{PublishStatus{request, true}};
  for (Effect& effect : middle) effects.push_back(std::move(effect));
  effects.push_back(PublishStatus{request, false});
  return effects;
}

std::vector<Effect> RequestQueue::replied(const RequestPtr& request, const Json& content) const {
  return surrounded(request, {reply(request, content)});
}

/// What it says cannot be read.
std::vector<Effect> RequestQueue::refused(const RequestPtr& request, const std::string& why) const {
  Json content = error_content("ValueError", why);
  formats_.of(request).describe_error(content, "request");
  return surrounded(
      request, {Warn{"cannot answer a " + request->type() + ": " + why}, reply(request, content)});
}

SendReply RequestQueue::reply(const RequestPtr& request, const Json& content) const {
  return {request, reply_type(request->type()), formats_.of(request).metadata(),
          pack(Packer::json, content)};
}

/// The reply to a request that never ran, so that nothing was published for it.
SendReply RequestQueue::reply_without_run(const RequestPtr& request, const Json& content,
                                          std::string_view status, WallTime now) const {
  Outcome outcome{status, now};
  const ReplyFormat& format = formats_.of(request);
  if (!format.publishes_status(request->type())) outcome.published = 0;
  SendReply answer = reply(request, content);
  answer.metadata = format.reply_metadata(*request, outcome);
  return answer;
}

}  // namespace px::jupyter
