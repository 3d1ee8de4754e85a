#include <px/engine/engine.hpp>

#include <array>
#include <csignal>
#include <utility>

#include <px/wire/session.hpp>

namespace px {
namespace {

constexpr std::array<std::string_view, 6> order_types{
    "abort_request",    "signal_request",  "interrupt_request",
    "shutdown_request", "connect_request", "usage_request",
};

constexpr std::array<std::string_view, 12> work_types{
    "execute_request",   "complete_request",    "inspect_request",
    "history_request",   "kernel_info_request", "is_complete_request",
    "comm_info_request", "comm_open",           "comm_msg",
    "comm_close",        "clear_request",       "shutdown_request",
};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& names, std::string_view name) {
  for (const std::string_view each : names)
    if (each == name) return true;
  return false;
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

/// busy, then `middle`, then idle: the frame around every answer (protocol 5.2) but to our own
/// requests.
std::vector<Effect> surrounded(const RequestPtr& request, std::vector<Effect> middle) {
  if (is_native_request(request->type())) return middle;
  std::vector<Effect> effects{PublishStatus{request, true}};
  for (Effect& effect : middle) effects.push_back(std::move(effect));
  effects.push_back(PublishStatus{request, false});
  return effects;
}

/// The outcome of a request that never ran, so that nothing was published for it.
Outcome not_run(const RequestPtr& request, std::string_view status, WallTime now) {
  Outcome outcome{status, now};
  if (is_native_request(request->type())) outcome.published = 0;
  return outcome;
}

}  // namespace

std::optional<int> signal_number(const Json& value) {
  if (value.is_number_integer()) {
    const auto number = value.get<long long>();
    if (number >= 0 && number <= SIGRTMAX) return static_cast<int>(number);
    return std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;
  std::string name = value.get<std::string>();
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (const SignalName& each : signal_names)
    if (name == each.name) return each.number;
  return std::nullopt;
}

bool Engine::is_order(std::string_view type) {
  return contains(order_types, type);
}

std::vector<Effect> Engine::arrive(RequestPtr request, WallTime now) {
  const std::string& type = request->type();
  if (request->channel == Channel::control && is_order(type)) return answer(request);
  const bool is_call = type == "apply_request" || is_native_request(type);
  const bool is_work = is_call || contains(work_types, type) || is_order(type);
  if (!is_work)
    return surrounded(request, {Warn{"ignoring a message of the unknown type '" + type + "'"}});
  if (request->channel == Channel::control && is_call)
    return surrounded(request, {Warn{"ignoring an " + type + " on the control channel"}});
  const std::size_t bytes = total_bytes(*request->frames);
  if (queued_bytes_ + bytes > max_queued_bytes_) return refuse_overload(request, now);
  queued_bytes_ += bytes;
  (request->channel == Channel::control ? orders_ : work_).push_back({std::move(request)});
  return {WakeMain{}};
}

std::vector<Effect> Engine::refuse_overload(const RequestPtr& request, WallTime now) const {
  const Json content = error_content(
      "Overloaded",
      "engine " + std::to_string(identity_.id.value) + " holds " +
          std::to_string(queued_bytes_ >> 20) + " MiB of requests already, and its bound is " +
          std::to_string(max_queued_bytes_ >> 20) + " MiB: wait for results first",
      {}, engine_info(identity_, "queue"));
  SendReply refusal = reply(request, content);
  refusal.metadata = reply_metadata(packer_, *request, identity_, not_run(request, "error", now));
  return surrounded(request, {std::move(refusal)});
}

std::optional<Job> Engine::take() {
  std::deque<Job>& lane = orders_.empty() ? work_ : orders_;
  if (lane.empty()) return std::nullopt;
  Job job = std::move(lane.front());
  lane.pop_front();
  queued_bytes_ -= total_bytes(*job.request->frames);
  if (aborted_.erase(job.request->header.msg_id.text) > 0) job.is_aborted = true;
  running_ = job.request;
  return job;
}

std::vector<Effect> Engine::answer(const RequestPtr& request) {
  const Result<Json> content = unpack(packer_, request->envelope.content);
  if (!content) return surrounded(request, {Warn{content.error().what}});
  const std::string& type = request->type();
  if (type == "signal_request") return answer_signal(request, *content);
  if (type == "shutdown_request") return answer_shutdown(request, *content);
  if (type == "abort_request") return answer_abort(request, *content);
  if (type == "usage_request") return surrounded(request, {AnswerUsage{request}});
  std::vector<Effect> effects{reply(request, {{"status", "ok"}})};
  if (type == "interrupt_request") effects.push_back(Interrupt{});
  return surrounded(request, std::move(effects));
}

std::vector<Effect> Engine::answer_abort(const RequestPtr& request, const Json& content) {
  const auto ids = content.find("msg_ids");
  if (ids == content.end() || ids->is_null())
    return surrounded(request, {Warn{"ignoring an abort_request without msg_ids"}});
  remember_aborted(*ids);
  return surrounded(request, {reply(request, {{"status", "ok"}})});
}

void Engine::remember_aborted(const Json& ids) {
  if (ids.is_string()) {
    aborted_.insert(ids.get<std::string>());
    return;
  }
  if (ids.empty()) return abort_queued_executions();
  // Ids that never come must not fill the memory: those that do not wait here are the old ones.
  if (aborted_.size() > max_aborted) aborted_.clear();
  for (const Json& id : ids)
    if (id.is_string()) aborted_.insert(id.get<std::string>());
}

std::vector<Effect> Engine::answer_signal(const RequestPtr& request, const Json& content) const {
  const auto wanted = content.find("sig");
  const std::optional<int> number = wanted == content.end() ? std::nullopt : signal_number(*wanted);
  SendReply answer{request, "_request", "{}", "{\"status\": \"ok\"}"};
  if (number) return {answer, RaiseSignal{*number}};
  const std::string given = wanted == content.end() ? "nothing" : pack(Packer::json, *wanted);
  answer.content = pack(Packer::json, error_content("ValueError", given + " is not a signal", {},
                                                    engine_info(identity_, "signal")));
  return {answer};
}

std::vector<Effect> Engine::answer_shutdown(const RequestPtr& request, const Json& content) {
  const bool is_restart = bool_member(content, "restart").value_or(false);
  return {PublishStatus{request, true}, reply(request, {{"status", "ok"}, {"restart", is_restart}}),
          PublishShutdown{request, is_restart}, PublishStatus{request, false}, Stop{}};
}

std::vector<Effect> Engine::answer_aborted(const RequestPtr& request, WallTime now) const {
  SendReply aborted = reply(request, {{"status", "aborted"}});
  aborted.metadata = reply_metadata(packer_, *request, identity_, not_run(request, "aborted", now));
  return surrounded(request, {std::move(aborted)});
}

void Engine::abort_queued_executions() {
  for (Job& job : work_)
    if (job.request->type() == "execute_request") job.is_aborted = true;
}

SendReply Engine::reply(const RequestPtr& request, const Json& content) const {
  return {request, reply_type(request->type()), engine_metadata(identity_.uuid),
          pack(Packer::json, content)};
}

}  // namespace px
