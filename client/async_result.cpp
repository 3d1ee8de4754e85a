#include "client/async_result.hpp"

#include <algorithm>
#include <utility>

#include "client/core.hpp"
#include "client/partition.hpp"
#include "client/requests/call.hpp"
#include "client/requests/request_body.hpp"
#include "wire/counted.hpp"
#include "wire/time.hpp"

namespace px::client {
namespace {

std::optional<Instant> deadline_of(Timeout timeout) {
  if (!timeout) return std::nullopt;
  return Clock::now() + *timeout;
}

/// " after 15 s", for the end of a sentence.
std::string after(Timeout timeout) {
  return timeout ? " after " + format_duration(*timeout) : "";
}

/// The values of a reply that is ok: those of a native request, or the content as it is.
std::vector<Value> values_of(const Reply& reply) {
  const Json content = reply.content();
  if (!content.contains("value") && !content.contains("values")) return {Value{content}};
  return value_or_throw(read_values(reply));
}

}  // namespace

AsyncResult::AsyncResult(std::shared_ptr<Call> call, std::weak_ptr<ClientCore> core)
    : call_(std::move(call)), core_(std::move(core)) {}

std::size_t AsyncResult::size() const {
  return call_->size();
}
std::size_t AsyncResult::progress() const {
  return call_->answered();
}
bool AsyncResult::is_ready() const {
  return call_->is_ready();
}
TaskInfo AsyncResult::info(std::size_t task) const {
  return call_->info(task);
}
std::string AsyncResult::stdout_text(std::size_t task) const {
  return call_->text(task, "stdout");
}
std::string AsyncResult::stderr_text(std::size_t task) const {
  return call_->text(task, "stderr");
}
std::vector<std::shared_ptr<const Publication>> AsyncResult::publications(std::size_t task) const {
  return call_->publications(task);
}
void AsyncResult::on_ready(std::function<void()> handler) const {
  call_->on_ready(std::move(handler));
}
void AsyncResult::on_answer(std::function<void(std::size_t task)> handler) const {
  call_->on_answer(std::move(handler));
}

bool AsyncResult::is_successful() const {
  check(is_ready());
  return failures().empty();
}

bool AsyncResult::wait(Timeout timeout) const {
  return call_->wait_ready(deadline_of(timeout));
}

bool AsyncResult::wait_for_output(Timeout timeout) const {
  return call_->wait_output(deadline_of(timeout));
}

void AsyncResult::wait_or_throw(Timeout timeout) const {
  if (!wait(timeout))
    throw TimeoutError(std::to_string(size() - progress()) + " of " + counted(size(), "request") +
                       (size() - progress() == 1 ? " is" : " are") + " not answered" +
                       after(timeout));
}

void AsyncResult::throw_failures() const {
  std::vector<Failure> found = failures();
  if (found.empty()) return;
  if (size() == 1) throw RemoteError(std::move(found.front()));
  throw CompositeError(std::move(found));
}

std::vector<Failure> AsyncResult::failures() const {
  std::vector<Failure> found;
  for (std::size_t i = 0; i < size(); ++i)
    if (TaskInfo info = call_->info(i); info.failure) found.push_back(std::move(*info.failure));
  return found;
}

std::vector<Value> AsyncResult::get(Timeout timeout) const {
  wait_or_throw(timeout);
  throw_failures();
  std::vector<Value> results;
  for (std::size_t i = 0; i < size(); ++i) {
    std::vector<Value> values = values_of(call_->info(i).reply);
    results.push_back(values.empty() ? Value{Json()} : std::move(values.front()));
  }
  return results;
}

Value AsyncResult::get_one(Timeout timeout) const {
  check(size() == 1);
  return std::move(get(timeout).front());
}

std::vector<Value> AsyncResult::get_all_of(std::size_t task, Timeout timeout) const {
  if (!call_->wait_task(task, deadline_of(timeout)))
    throw TimeoutError("request " + std::to_string(task) + " is not answered" + after(timeout));
  TaskInfo info = call_->info(task);
  if (info.failure) throw RemoteError(std::move(*info.failure));
  return values_of(info.reply);
}

Value AsyncResult::get_joined(Timeout timeout) const {
  return value_or_throw(join_values(get(timeout)));
}

std::vector<std::size_t> AsyncResult::as_completed(std::size_t& cursor, Timeout timeout) const {
  const std::optional<Instant> deadline = deadline_of(timeout);
  std::vector<std::size_t> answered;
  while (answered.empty()) {
    const std::vector<CallEvent> news = call_->events(cursor, deadline);
    if (news.empty()) break;
    cursor += news.size();
    for (const CallEvent& event : news)
      if (event.kind == CallEvent::Kind::answered) answered.push_back(event.task);
  }
  return answered;
}

std::vector<CallEvent> AsyncResult::events(std::size_t from, Timeout timeout) const {
  return call_->events(from, deadline_of(timeout));
}

std::vector<Silence> AsyncResult::silences() const {
  const auto core = core_.lock();
  if (!core) return {};
  std::vector<Silence> found = core->connection().silences();
  std::erase_if(found, [&](const Silence& each) { return !call_->may_wait_for(each.engine); });
  return found;
}

/// The msg_ids of the requests that each engine may have and has not answered. A balanced task may
/// be at any engine, or nowhere yet: all of them have it.
std::map<EngineId, Json> AsyncResult::pending_ids(const std::vector<EngineId>& present) const {
  std::map<EngineId, Json> by_engine;
  for (std::size_t i = 0; i < size(); ++i) {
    const TaskInfo info = call_->info(i);
    if (info.status != TaskStatus::pending) continue;
    for (const EngineId id : present)
      if (!info.sent.engine || *info.sent.engine == id)
        by_engine[id].push_back(info.sent.msg_id.text);
  }
  return by_engine;
}

void AsyncResult::abort() const {
  const std::shared_ptr<ClientCore> core = core_.lock();
  if (!core) return;
  for (auto& [id, ids] : pending_ids(core->connection().engines()->ids()))
    core->send_control({id}, "abort_request", {{"msg_ids", std::move(ids)}});
}

void AsyncResult::stop(const Json& signal) const {
  const std::shared_ptr<ClientCore> core = core_.lock();
  if (!core) return;
  const std::shared_ptr<const EngineDirectory> engines = core->connection().engines();
  std::map<EngineId, Json> by_engine = pending_ids(engines->ids());
  for (const auto& [id, ids] : by_engine)
    core->send_control({id}, "abort_request", {{"msg_ids", ids}});
  // C++ engines that are done with a cell take part when its other ranks leave an MPI call.
  for (std::size_t i = 0; i < size() && !by_engine.empty(); ++i)
    if (const auto id = call_->info(i).sent.engine; id && engines->language_of(*id) == "cpp")
      by_engine.try_emplace(*id, Json::array());
  for (auto& [id, ids] : by_engine)
    core->send_control({id}, "signal_request", {{"sig", signal}, {"msg_ids", std::move(ids)}});
}

}  // namespace px::client
