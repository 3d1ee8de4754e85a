#include "client/requests/pending.hpp"

#include <map>
#include <utility>

#include "wire/engine_end.hpp"

namespace px::client {

void PendingRequests::add(const MessageId& id, PendingRequest entry) {
  if (!entry.engine.empty()) by_engine_[entry.engine].insert(id.text);
  states_.emplace(id, AwaitedRequest{std::move(entry), false, 0, std::nullopt, false});
  ++unanswered_;
}

bool PendingRequests::sent(const MessageId& id, std::shared_ptr<const SentRequest> as,
                           std::shared_ptr<const void> hold) {
  const auto found = states_.find(id);
  if (found == states_.end() || found->second.is_answered) return false;
  PendingRequest& entry = found->second.entry;
  entry.waits = false;
  entry.sent = std::move(as);
  entry.hold = std::move(hold);
  return true;
}

bool PendingRequests::answer(const ReplyHead& head, Reply reply, WallTime now) {
  const auto found = states_.find(head.parent);
  if (found == states_.end() || found->second.is_answered) return false;
  AwaitedRequest& state = found->second;
  state.is_answered = true;
  state.entry.sent.reset();
  state.entry.hold.reset();
  --unanswered_;
  if (state.entry.output_end == OutputEnd::by_count) state.expected = head.published;
  // Nobody works for what was aborted or what the controller itself refused.
  if (head.status == TaskStatus::aborted ||
      (head.status == TaskStatus::error && head.engine.empty()))
    state.was_idle = true;
  // Kept alive here: a handler may let go of the last other owner.
  const std::shared_ptr<Call> call = state.entry.call;
  call->answer(state.entry.task, head, std::move(reply), now);
  settle(found);
  return true;
}

bool PendingRequests::publish(const MessageId& id, Publication publication) {
  const auto found = states_.find(id);
  if (found == states_.end()) {
    const EndedRequest* ended = ended_.find(id);
    const std::shared_ptr<Call> call = ended ? ended->call.lock() : nullptr;
    if (call) call->publish(ended->task, std::move(publication));
    return call != nullptr;
  }
  AwaitedRequest& state = found->second;
  ++state.published;
  state.entry.call->publish(state.entry.task, std::move(publication));
  settle(found);
  return true;
}

bool PendingRequests::finish_output(const MessageId& id) {
  const auto found = states_.find(id);
  if (found == states_.end()) return false;
  found->second.was_idle = true;
  settle(found);
  return true;
}

void PendingRequests::lose_output() {
  std::vector<MessageId> answered;
  for (auto& [id, state] : states_) {
    state.entry.may_lack_output = true;
    if (state.is_answered) answered.push_back(id);
  }
  for (const MessageId& id : answered) finish_output(id);
}

void PendingRequests::learn_engine(const MessageId& id, EngineId engine, const EngineUuid& uuid) {
  const auto found = states_.find(id);
  if (found == states_.end() || !found->second.entry.engine.empty()) return;
  found->second.entry.call->learn_engine(found->second.entry.task, engine, uuid);
}

namespace {

/// The last line that a request has printed, except blank ones; cut if it is long.
std::string last_line(const Call& call, std::size_t task) {
  constexpr std::size_t most_bytes = 200;
  const auto publications = call.publications(task);
  for (auto each = publications.rbegin(); each != publications.rend(); ++each) {
    if ((*each)->type != "stream") continue;
    std::string text = string_member((*each)->content, "text").value_or("");
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    if (last == std::string::npos) continue;
    text.resize(last + 1);
    text.erase(0, text.find_last_of("\r\n") + 1);  // npos + 1 is 0
    if (text.size() <= most_bytes) return text;
    std::size_t end = most_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + " ...";
  }
  return "";
}

}  // namespace

void PendingRequests::lose_engine(const EngineUuid& uuid, EngineId id, WallTime now,
                                  const EngineLoss& loss) {
  const auto filed = by_engine_.find(uuid);
  if (filed == by_engine_.end()) return;
  const std::vector<std::string> ids{filed->second.begin(), filed->second.end()};
  for (const std::string& text : ids) {
    const auto found = states_.find(std::string_view(text));
    if (found == states_.end()) continue;
    if (found->second.entry.output_end == OutputEnd::by_leave) {
      finish(found, uuid, now);
      continue;
    }
    EngineEnd end = make_engine_end(id, loss.host, loss.reason);
    const std::string line = last_line(*found->second.entry.call, found->second.entry.task);
    if (!line.empty())
      end.why = with_clause(end.why, "the last line of its output: '" + line + "'");
    fail(found, {"EngineError", death_sentence(end, text), {}, id, {}}, now);
  }
}

/// Its own answer takes another way than the news that it has left, and may come second.
void PendingRequests::finish(States::iterator found, const EngineUuid& engine, WallTime now) {
  const ReplyHead head{found->first, TaskStatus::ok, std::nullopt, engine.text};
  answer(head, Reply::of_record(Json::object(), Json::object(), {{"status", "ok"}}, {}), now);
}

void PendingRequests::fail_all(const Failure& failure, WallTime now) {
  while (!states_.empty()) fail(states_.begin(), failure, now);
}

void PendingRequests::fail(const MessageId& id, const Failure& failure, WallTime now) {
  if (const auto found = states_.find(id); found != states_.end()) fail(found, failure, now);
}

namespace {

using SentByNumber = std::map<std::uint64_t, std::shared_ptr<const SentRequest>>;

std::vector<std::shared_ptr<const SentRequest>> in_order(SentByNumber by_number) {
  std::vector<std::shared_ptr<const SentRequest>> requests;
  for (auto& [number, request] : by_number) requests.push_back(std::move(request));
  return requests;
}

}  // namespace

PendingRequests::Unanswered PendingRequests::begin_again() {
  Unanswered unanswered;
  SentByNumber to_send;
  std::vector<MessageId> without_output;
  for (auto& [id, state] : states_) {
    PendingRequest& entry = state.entry;
    if (entry.output_end == OutputEnd::by_leave || entry.waits) continue;
    entry.may_lack_output = true;
    if (state.is_answered)
      without_output.push_back(id);
    else if (entry.sent)
      to_send.emplace(entry.sent->number, entry.sent);
    else
      unanswered.lost.push_back(id);
  }
  for (const MessageId& id : without_output) finish_output(id);
  unanswered.to_send = in_order(std::move(to_send));
  return unanswered;
}

PendingRequests::Unanswered PendingRequests::begin_again_by(
    const std::set<RequestChannel>& channels) {
  Unanswered unanswered;
  SentByNumber to_send;
  for (auto& [id, state] : states_) {
    PendingRequest& entry = state.entry;
    const bool is_asked =
        entry.channel == RequestChannel::control || entry.channel == RequestChannel::hub;
    if (state.is_answered || entry.output_end == OutputEnd::by_leave ||
        !channels.contains(entry.channel))
      continue;
    entry.is_sent_again = entry.sent != nullptr;
    if (entry.sent)
      to_send.emplace(entry.sent->number, entry.sent);
    else if (is_asked)
      unanswered.lost.push_back(id);
  }
  unanswered.to_send = in_order(std::move(to_send));
  return unanswered;
}

std::vector<std::shared_ptr<const SentRequest>> PendingRequests::begin_again_with(
    const EngineUuid& uuid) {
  const auto filed = by_engine_.find(uuid);
  if (filed == by_engine_.end()) return {};
  SentByNumber by_number;
  for (const std::string& id : filed->second) {
    PendingRequest& entry = states_.find(std::string_view(id))->second.entry;
    if (!entry.sent) continue;
    entry.may_lack_output = true;
    by_number.emplace(entry.sent->number, entry.sent);
  }
  return in_order(std::move(by_number));
}

bool PendingRequests::may_lack_output(const MessageId& id) const {
  const auto found = states_.find(id);
  return found != states_.end() && found->second.entry.may_lack_output;
}

bool PendingRequests::is_sent_again(const MessageId& id) const {
  const auto found = states_.find(id);
  return found != states_.end() && found->second.entry.is_sent_again;
}

std::vector<MessageId> PendingRequests::unanswered_ids() const {
  std::vector<MessageId> ids;
  for (const auto& [id, state] : states_)
    if (!state.is_answered) ids.push_back(id);
  return ids;
}

void PendingRequests::fail(States::iterator found, const Failure& failure, WallTime now) {
  AwaitedRequest& state = found->second;
  const std::shared_ptr<Call> call = state.entry.call;
  const std::size_t task = state.entry.task;
  if (!state.is_answered) --unanswered_;
  forget(found);
  call->fail(task, failure, now);
  call->complete_output(task);
}

void PendingRequests::settle(States::iterator found) {
  if (!found->second.is_answered || !is_output_complete(found->second)) return;
  const std::shared_ptr<Call> call = found->second.entry.call;
  const std::size_t task = found->second.entry.task;
  if (found->second.entry.output_end != OutputEnd::none) ended_.add(found->first, {call, task});
  forget(found);
  call->complete_output(task);
}

void PendingRequests::forget(States::iterator found) {
  const EngineUuid& engine = found->second.entry.engine;
  if (!engine.empty()) {
    const auto filed = by_engine_.find(engine);
    filed->second.erase(found->first.text);
    if (filed->second.empty()) by_engine_.erase(filed);
  }
  states_.erase(found);
}

bool PendingRequests::is_output_complete(const AwaitedRequest& state) {
  const OutputEnd end = state.entry.output_end;
  if (end == OutputEnd::none || end == OutputEnd::by_leave || state.was_idle) return true;
  return state.expected && state.published >= *state.expected;
}

}  // namespace px::client
