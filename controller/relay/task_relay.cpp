#include "controller/relay/task_relay.hpp"

#include <array>
#include <span>
#include <utility>

#include "wire/header.hpp"
#include "wire/json.hpp"
#include "wire/json_scan.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

/// The ident under which the hub's own tasks travel: engines echo it, no client has it.
constexpr std::string_view hub_ident = "hub";

std::string_view client_of(const Frames& request, std::size_t delimiter_index) {
  return delimiter_index == 0 ? hub_ident : request.at(0);
}

Json described(const GangSeats& gang) {
  Json engines = Json::array();
  for (const EngineUuid& engine : gang.engines) engines.push_back(engine.text);
  Json described{{"engines", std::move(engines)},
                 {"ranks", gang.communicator.ranks},
                 {"number", gang.communicator.number}};
  for (const GangCommunicator& each : gang.unneeded)
    described["unneeded"].push_back({{"ranks", each.ranks}, {"number", each.number}});
  return described;
}

}  // namespace

TaskRelay::TaskRelay(RelayContext& shared, const TaskQueueOptions& options, RandomSource random,
                     ClientLink& client, EngineLink& engines, Stocktaking stock,
                     std::unique_ptr<Journal> journal, TaskBacklog backlog)
    : shared_(shared),
      client_(client),
      engines_(engines),
      ledger_(options, std::move(random), std::move(stock), std::move(journal), std::move(backlog),
              *this, Clock::now()) {}

// ---------------------------------------------------------------- what comes in

void TaskRelay::receive_requests() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = client_.socket().receive();
    if (!frames) break;
    const auto envelope = shared_.open(*frames, 1, "task");
    if (!envelope) continue;
    if (auto task = read(frames, *envelope)) ledger_.requested(std::move(*task), Clock::now());
  }
  ledger_.commit(Clock::now());
}

void TaskRelay::resubmit(SharedFrames frames) {
  const auto envelope = shared_.open(*frames, 0, "hub");
  if (!envelope) return;
  if (auto task = read(frames, *envelope)) ledger_.resubmitted(std::move(*task), Clock::now());
}

/// Nothing where it has no msg_id.
std::optional<ArrivedTask> TaskRelay::read(const SharedFrames& frames, const Envelope& envelope) {
  MessageName name = read_message_name(shared_.packer(), envelope.header);
  if (name.msg_id.empty()) {
    shared_.bad_messages.add("task: a message without a msg_id");
    return std::nullopt;
  }
  ArrivedTask task{frames, envelope.delimiter_index(), std::move(name.msg_id),
                   name.msg_type == "execute_request"};
  if (name.msg_type == question_type)
    task.asks_for = packed_text(shared_.packer(), envelope.content, "signature").value_or("");
  return task;
}

void TaskRelay::receive_replies() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames came = engines_.socket().receive();
    if (!came) break;
    const auto envelope = shared_.open(*came, 2, "task reply");
    if (!envelope) continue;
    const TaskOutcome outcome = read_task_outcome(shared_.packer(), envelope->metadata);
    if (outcome == TaskOutcome::given_back) {
      take_back(*came, *envelope);
      continue;
    }
    ledger_.replied({whole(came), read_msg_id(shared_.packer(), envelope->parent_header), outcome,
                     read_repetition(shared_.packer(), envelope->parent_header)},
                    Clock::now());
  }
  ledger_.commit(Clock::now());
}

void TaskRelay::take_back(const Frames& frames, const Envelope& envelope) {
  const auto task = read_given_back(shared_.packer(), envelope.content);
  if (!task) return shared_.bad_messages.add("task reply: malformed list of returned tasks");
  ledger_.given_back(EngineUuid{frames.at(0)}, *task, Clock::now());
}

void TaskRelay::restore() {
  ledger_.restore(Clock::now());
}

void TaskRelay::engine_placed(const EngineUuid& engine, const WorldPlace& place) {
  ledger_.engine_placed(engine, place);
}

void TaskRelay::engine_joined(const EngineUuid& engine, bool gives_back) {
  ledger_.engine_joined(engine, gives_back, Clock::now());
}

void TaskRelay::engine_holds(const EngineUuid& engine, const HeldTasks& held, bool gives_back) {
  ledger_.engine_holds(engine, held, gives_back, Clock::now());
}

void TaskRelay::engine_left(const EngineUuid& engine, EngineEnd end) {
  engines_.forget(engine.text);
  ledger_.engine_left(engine, std::move(end), Clock::now());
}

void TaskRelay::engine_silent(const EngineUuid& engine) {
  ledger_.engine_silent(engine, Clock::now());
}

void TaskRelay::engine_returned(const EngineUuid& engine) {
  ledger_.engine_returned(engine, Clock::now());
}

void TaskRelay::engine_drained(const EngineUuid& engine, bool is_drained) {
  ledger_.engine_drained(engine, is_drained, Clock::now());
}

void TaskRelay::engine_reconnected(const EngineUuid& engine) {
  ledger_.engine_reconnected(engine, Clock::now());
}

void TaskRelay::on_time(Instant now) {
  ledger_.on_time(now);
}

void TaskRelay::on_journal() {
  ledger_.on_journal(Clock::now());
}

std::optional<Instant> TaskRelay::next_deadline() const {
  return ledger_.next_deadline(Clock::now());
}

// ---------------------------------------------------------------- what the ledger reads

std::optional<ArrivedTask> TaskRelay::open_request(const SharedFrames& frames) {
  const Result<Envelope> envelope = Envelope::locate(*frames, 1);
  if (envelope && shared_.signer().verify(*envelope)) return read(frames, *envelope);
  shared_.bad_messages.add("journal: a request with a bad signature");
  return std::nullopt;
}

bool TaskRelay::is_right_reply(const Frames& frames) {
  const Result<Envelope> envelope = Envelope::locate(frames, 2);
  if (envelope && shared_.signer().verify(*envelope)) return true;
  shared_.bad_messages.add("journal: a reply with a bad signature");
  return false;
}

Result<TaskRules> TaskRelay::rules_of(const ArrivedTask& task) {
  const Envelope envelope = *Envelope::locate(*task.frames, 1);
  Result<TaskRules> rules = read_task_rules(shared_.packer(), envelope.metadata);
  if (!rules || rules->ranks.most == 1) return rules;
  if (read_message_name(shared_.packer(), envelope.header).msg_type == "call_request") return rules;
  return Error{ErrorKind::bad_input, "only calls of functions can have several ranks"};
}

SharedFrames TaskRelay::whole(const SharedFrames& frames) {
  return shared_.memory.whole(frames, shared_.packer());
}

SharedFrames TaskRelay::error_reply(const FailTask& failure) {
  shared_.note_refusal(failure.error_name, failure.error_value);
  const Frames& request = *failure.request;
  const WallTime now = wall_now();
  std::optional<std::string> engine;
  if (!failure.engine.empty()) engine = failure.engine.text;
  Draft draft = stand_in_reply(engine, {failure.error_name, failure.error_value}, now);
  if (engine) draft.idents.push_back(*engine);
  draft.idents.emplace_back(client_of(request, failure.delimiter_index));
  draft.msg_type = "apply_reply";
  draft.parent_header = std::string(request.at(failure.delimiter_index + 2));
  return std::make_shared<TextFrames>(shared_.session.compose(draft, now));
}

// ---------------------------------------------------------------- what the ledger wants done

void TaskRelay::assign(AssignTask& task) {
  if (task.failures > 0 && !task.is_resent && task.is_first_rank())
    shared_.events.task_retried(task.msg_id, task.engine, task.failures, shared_.event_time());
  // The first engine that gets a segment's name takes it: several ranks get bytes.
  if (task.gang)
    shared_.memory.drop(task.request);  // its bytes stay mapped here
  else
    task.request = shared_.memory.for_engine(task.request, task.engine.text);
  const std::array client{client_of(*task.request, task.delimiter_index)};
  if (task.repetition > 0 || task.gang) return assign_changed(task, client[0]);
  engines_.send(task.engine.text, client, task.request, task.delimiter_index, Clock::now());
}

/// With further keys in the header. A repetition has one because the engine would drop a message
/// that it saw before.
void TaskRelay::assign_changed(const AssignTask& task, std::string_view client) {
  const Result<Envelope> envelope = Envelope::locate(*task.request, 1);
  check(envelope.has_value());
  Result<Json> header = unpack(shared_.packer(), envelope->header);
  if (!header) return shared_.bad_messages.add("task: a malformed header");
  if (task.repetition > 0) (*header)["repetition"] = task.repetition;
  if (task.goes_first) (*header)["goes_first"] = true;
  if (task.gang) (*header)["gang"] = described(*task.gang);
  const std::string packed = pack(shared_.packer(), *header);
  const std::string signature =
      shared_.signer().sign(packed, envelope->parent_header, envelope->metadata, envelope->content);
  const std::array<std::string_view, 4> head{client, delimiter, signature, packed};
  engines_.send(task.engine.text, head, task.request, task.delimiter_index + 3, Clock::now());
}

void TaskRelay::recall(const RecallTask& task) {
  Draft draft;
  draft.msg_type = recall_type;
  draft.content = Json{{"msg_id", task.msg_id.text}, {"repetition", task.repetition}};
  const auto frames = std::make_shared<TextFrames>(shared_.session.compose(draft, wall_now()));
  engines_.send(task.engine.text, std::array{hub_ident}, frames, 0, Clock::now());
}

void TaskRelay::interrupt(const InterruptTask& task) {
  if (interrupt_) interrupt_(task);
}

SharedFrames TaskRelay::answer(TaskAnswer& answer) {
  const bool has_client = answer.delimiter_index > 0;
  bool is_lost = false;
  const SharedFrames reply = SharedMemory::as_it_came(answer.reply);
  if (has_client) {
    const std::array<std::string_view, 2> idents{answer.request->at(0), answer.engine.text};
    const std::size_t count = answer.engine.empty() ? 1 : 2;
    if (answer.is_own)
      client_.answer(std::span(idents).first(count), reply, count, Clock::now());
    else
      is_lost = client_.reply(idents, reply, 2, Clock::now());
  }
  if (!has_client || is_lost) shared_.memory.drop(answer.reply);
  const bool is_whole = reply == answer.reply;  // nothing of it lies in shared memory
  SharedFrames kept =
      record(TaskFinished{std::move(answer.engine), std::move(answer.msg_id),
                          std::move(answer.reply), answer.outcome == TaskOutcome::aborted});
  if (!has_client || is_lost) return nullptr;
  return is_whole ? kept : compacted(*reply);
}

void TaskRelay::answer_again(const ArrivedTask& request, const SharedFrames& reply) {
  const Result<Envelope> parts = Envelope::locate(*reply);
  check(parts.has_value());
  client_.socket().forward(std::array{request.frames->at(0)}, *reply, parts->delimiter_index());
}

void TaskRelay::refuse(const ArrivedTask& request, const Problem& problem) {
  shared_.note_refusal(problem.name, problem.sentence);
  const Result<Envelope> envelope = Envelope::locate(*request.frames, 1);
  check(envelope.has_value());
  client_.socket().send(
      refusal(shared_.session, *request.frames, *envelope, "apply_reply", problem));
}

void TaskRelay::forward(const SharedFrames& reply) {
  client_.reply(std::array{reply->at(1), reply->at(0)}, SharedMemory::as_it_came(reply), 2,
                Clock::now());
}

}  // namespace px::controller
