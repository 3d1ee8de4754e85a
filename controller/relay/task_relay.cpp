#include "controller/relay/task_relay.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

#include "controller/relay/stand_in_reply.hpp"
#include "wire/earlier.hpp"
#include "wire/header.hpp"
#include "wire/json.hpp"
#include "wire/json_scan.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

/// The ident under which the hub's own tasks travel: engines echo it, no client has it.
constexpr std::string_view hub_ident = "hub";

/// After the start of a controller so much time passes until clients of an earlier one have all
/// their connections again. What is sent to them before that is lost.
constexpr Duration return_of_clients = std::chrono::seconds(2);

std::string_view client_of(const Frames& request, std::size_t delimiter_index) {
  return delimiter_index == 0 ? hub_ident : request.at(0);
}

std::string_view signature_of(const SharedFrames& request, std::size_t delimiter_index) {
  return request->at(delimiter_index + 1);
}

}  // namespace

TaskRelay::TaskRelay(RelayContext& shared, const TaskQueueOptions& options, RandomSource random,
                     ClientLink& client, EngineLink& engines, Stocktaking stock,
                     std::unique_ptr<Journal> journal, TaskBacklog backlog)
    : shared_(shared),
      queue_(options, std::move(random)),
      stock_(std::move(stock)),
      journal_(std::move(journal)),
      backlog_(std::move(backlog)),
      clients_are_back_(Clock::now() + return_of_clients),
      client_(client),
      engines_(engines) {}

// ---------------------------------------------------------------- requests

void TaskRelay::receive_requests() {
  std::vector<Request> requests;  // to be written down together
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = client_.socket().receive();
    if (!frames) break;
    const auto envelope = shared_.open(*frames, 1, "task");
    if (!envelope) continue;
    const bool is_repeat =
        !history_.is_new(envelope->signature) || replies_.was_answered(envelope->signature);
    if (is_repeat)
      answer_again(*frames, *envelope, envelope->signature);
    else if (journal_)
      requests.push_back(read(frames, *envelope));
    else
      begin(read(frames, *envelope));
  }
  accept(std::move(requests));
}

void TaskRelay::begin(Request request) {
  const bool is_stock_done = stock_.is_done(Clock::now());
  if (is_stock_done) submit_waiting();  // an engine may have left just now: they came before
  if (must_wait(request))
    put_back(std::move(request));
  else if (is_stock_done)
    submit(std::move(request));
  else
    waiting_.push_back(std::move(request));
}

TaskBacklog::Load TaskRelay::load() const {
  return {queue_.size() + waiting_.size(), queue_.bytes()};
}

/// Not what an engine may have, nor what is there already.
bool TaskRelay::must_wait(const Request& request) const {
  const std::string_view msg_id = request.msg_id.text;
  if (backlog_.knows(msg_id)) return true;
  return backlog_.takes(load()) && !request.is_question && !request.msg_id.empty() &&
         request.given.empty() && !stock_.is_held(msg_id) && !queue_.knows(msg_id);
}

void TaskRelay::put_back(Request request) {
  if (backlog_.knows(request.msg_id.text)) return;
  // What lies in shared memory is not to be copied.
  const bool may_write = shared_.memory.whole(request.frames, shared_.packer()) == request.frames;
  const Result<void> put = backlog_.push({request.msg_id, request.frames}, may_write, load());
  if (put) return;
  shared_.hub.post(TaskSubmitted{request.msg_id, request.frames});
  refuse(request.frames, *Envelope::locate(*request.frames, 1), std::move(request.msg_id),
         "Overloaded", put.error().what);
}

/// As many of those that wait as the queue has room for, and no more than others can wait for.
void TaskRelay::refill() {
  const Instant now = Clock::now();
  if (backlog_.empty() || !stock_.is_done(now)) return;
  for (int i = 0; i < 2 * messages_per_turn; ++i) {
    auto next = backlog_.pop(load(), now);
    if (!next) break;
    // It came twice while nothing was given out, and the other one did not wait here.
    if (queue_.knows(next->msg_id.text)) continue;
    submit(read(next->frames, *Envelope::locate(*next->frames, 1)));
  }
  if (!unknown_.empty()) take_unknown();
}

/// A client whose connection broke does not know whether its request came, nor whether the reply
/// was lost.
/// signature  of the request.
void TaskRelay::answer_again(const Frames& frames, const Envelope& envelope,
                             std::string_view signature) {
  if (const SharedFrames reply = replies_.find(signature)) {
    const Result<Envelope> parts = Envelope::locate(*reply);
    check(parts.has_value());
    const std::array client{frames.at(0)};
    client_.socket().forward(client, *reply, parts->delimiter_index());
  } else if (replies_.was_answered(signature)) {
    tell_lost(frames, envelope, "ResultLost",
              "it was done, and its reply was lost on its way: the controller keeps only short "
              "and recent replies to send them again; fetch it with get_result(msg_ids)");
  }  // else it waits or runs
}

/// A request that was too long for its client to keep comes as a question for its answer. Whether
/// that is settled here.
bool TaskRelay::answer_question(const Frames& frames, const Envelope& envelope,
                                const MessageId& msg_id, bool is_held) {
  const std::string signature =
      packed_text(shared_.packer(), envelope.content, "signature").value_or("");
  if (replies_.was_answered(signature))
    answer_again(frames, envelope, signature);
  else if (is_held)
    return false;
  else if (!queue_.knows(msg_id.text))
    tell_lost(frames, envelope, "ConnectionLost",
              "it was lost on its way to the controller, and is not sent again by itself, as it "
              "is longer than 1 MiB: send it again");
  return true;
}

TaskRelay::Request TaskRelay::read(const SharedFrames& frames, const Envelope& envelope) const {
  MessageName name = read_message_name(shared_.packer(), envelope.header);
  return {frames, std::move(name.msg_id), name.msg_type == question_type,
          name.msg_type == "execute_request"};
}

void TaskRelay::tell_lost(const Frames& frames, const Envelope& envelope,
                          const std::string& error_name, const std::string& sentence) {
  client_.socket().send(
      refusal(shared_.session, frames, envelope, "apply_reply", {error_name, sentence}));
}

void TaskRelay::submit_waiting() {
  if (waiting_.empty() || !stock_.is_done(Clock::now())) return;
  for (Request& each : std::exchange(waiting_, {})) submit(std::move(each));
  take_unknown();
  refill();
}

void TaskRelay::resubmit(SharedFrames frames) {
  const auto envelope = shared_.open(*frames, 0, "hub");
  if (!envelope) return;
  Request request = read(frames, *envelope);
  if (journal_)
    accept({std::move(request)});
  else
    begin(std::move(request));
}

void TaskRelay::submit(Request request) {
  MessageId msg_id = std::move(request.msg_id);
  if (msg_id.empty()) return shared_.bad_messages.add("task: a message without a msg_id");
  const Envelope envelope = *Envelope::locate(*request.frames, 1);
  EngineUuid holder = stock_.take_holder(msg_id.text, request.given);
  if (request.is_question && answer_question(*request.frames, envelope, msg_id, !holder.empty()))
    return;
  const SharedFrames frames = shared_.memory.whole(request.frames, shared_.packer());
  SharedFrames kept = shared_.hub.post(TaskSubmitted{msg_id, frames});
  Result<TaskRules> rules = read_task_rules(shared_.packer(), envelope.metadata);
  if (!rules) return refuse(frames, envelope, std::move(msg_id), "ValueError", rules.error().what);
  if (finish_by_unknown(msg_id, frames, envelope)) return;
  const EngineUuid& given = request.given;
  if (!given.empty() && holder.empty() && is_given_up(given, *rules, holder)) {
    queue_.ended_before(msg_id.text, false, given);  // its reply may still be on its way
    return refuse(frames, envelope, std::move(msg_id), "EngineError",
                  "engine '" + given.text +
                      "' had this task when the controller ended, and did not come back to the "
                      "controller that was started again",
                  given);
  }
  perform(queue_.submit({std::move(msg_id), frames, envelope.delimiter_index(), std::move(*rules),
                         std::move(holder), std::move(kept), request.is_cell},
                        Clock::now()));
}

void TaskRelay::refuse(const SharedFrames& frames, const Envelope& envelope, MessageId msg_id,
                       const std::string& error_name, const std::string& why, EngineUuid engine) {
  TaskEffects effects;
  effects.push_back(FailTask{std::move(msg_id), std::move(engine), frames,
                             envelope.delimiter_index(), error_name, why});
  perform(std::move(effects));
}

// ---------------------------------------------------------------- replies

void TaskRelay::receive_replies() {
  Answers answers;
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
    const SharedFrames frames = shared_.memory.whole(came, shared_.packer());
    const MessageId parent = read_msg_id(shared_.packer(), envelope->parent_header);
    if (!queue_.knows(parent.text)) unknown_.push_back(frames);
    take_reply(frames, parent, outcome, answers);
    if (!journal_) finish(std::exchange(answers, {}));
  }
  finish(std::move(answers));
}

/// What the engine was recalled for, or has not begun as it ends.
void TaskRelay::take_back(const Frames& frames, const Envelope& envelope) {
  const auto task = read_given_back(shared_.packer(), envelope.content);
  if (!task) return shared_.bad_messages.add("task reply: what is given back is not said");
  if (task->is_ending) queue_.engine_ending(EngineUuid{frames.at(0)});
  perform(queue_.given_back(frames.at(0), task->msg_id.text, task->repetition, Clock::now()));
}

void TaskRelay::take_reply(const SharedFrames& frames, const MessageId& parent, TaskOutcome outcome,
                           Answers& answers) {
  collect(queue_.reply(frames->at(0), parent.text, outcome, frames, Clock::now()), answers);
}

/// Asked for by an earlier controller: whoever waits for it is still there, or is not.
void TaskRelay::forward_unknown() {
  are_clients_back_ = are_clients_back_ || Clock::now() >= clients_are_back_;
  // One that waits is asked for: see submit().
  if (unknown_.empty() || !waiting_.empty() || !are_clients_back_) return;
  std::vector<SharedFrames> kept;
  for (const SharedFrames& frames : std::exchange(unknown_, {})) {
    const MessageId parent =
        read_msg_id(shared_.packer(), Envelope::locate(*frames, 2)->parent_header);
    if (backlog_.knows(parent.text))
      kept.push_back(frames);
    else
      client_.reply(std::array{frames->at(1), frames->at(0)}, SharedMemoryDesk::as_it_came(frames),
                    2, Clock::now());
  }
  unknown_ = std::move(kept);
}

void TaskRelay::engine_joined(const EngineUuid& engine, bool gives_back) {
  perform(queue_.engine_joined(engine, Clock::now(), gives_back));
  stock_.joined(engine);
  submit_waiting();
}

void TaskRelay::engine_holds(const EngineUuid& engine, const HeldTasks& held, bool gives_back) {
  stock_.reported(engine, held);
  if (queue_.has_engine(engine)) perform(queue_.engine_joined(engine, Clock::now(), gives_back));
  submit_waiting();
}

void TaskRelay::on_time(Instant now) {
  perform(queue_.on_time(now));
  submit_waiting();
  refill();
  forward_unknown();
  commit_journal();
  for (const std::string& error : backlog_.take_errors()) spdlog::error("{}", error);
}

std::optional<Instant> TaskRelay::next_deadline() const {
  std::optional<Instant> next = queue_.next_deadline();
  if (!waiting_.empty()) next = earlier(next, stock_.deadline());
  if (!backlog_.empty())
    next = earlier(next, stock_.is_done(Clock::now()) ? backlog_.next_deadline(load())
                                                      : stock_.deadline());
  if (!unknown_.empty() && waiting_.empty() && !are_clients_back_)
    next = earlier(next, clients_are_back_);
  return next;
}

void TaskRelay::engine_left(const EngineUuid& engine, EngineEnd end) {
  engines_.forget(engine.text);
  stock_.left(engine);
  perform(queue_.engine_left(engine, Clock::now(), std::move(end)));
}

void TaskRelay::engine_silent(const EngineUuid& engine) {
  perform(queue_.engine_silent(engine, Clock::now()));
}

void TaskRelay::engine_returned(const EngineUuid& engine) {
  perform(queue_.engine_returned(engine, Clock::now()));
}

void TaskRelay::engine_reconnected(const EngineUuid& engine) {
  perform(queue_.engine_reconnected(engine, Clock::now()));
}

// ---------------------------------------------------------------- what the queue wants done

void TaskRelay::perform(TaskEffects effects) {
  Answers answers;
  collect(std::move(effects), answers);
  finish(std::move(answers));
}

/// Answers are written down together before they go.
void TaskRelay::collect(TaskEffects effects, Answers& answers) {
  for (TaskEffect& effect : effects) {
    if (auto* task = std::get_if<AssignTask>(&effect))
      assign(*task);
    else if (auto* reply = std::get_if<DeliverReply>(&effect))
      answers.push_back({std::move(reply->msg_id), std::move(reply->engine),
                         std::move(reply->request), reply->delimiter_index, std::move(reply->reply),
                         reply->outcome, false});
    else if (auto* failed = std::get_if<FailTask>(&effect))
      answers.push_back(failure(*failed));
    else if (const auto* recalled = std::get_if<RecallTask>(&effect))
      recall(*recalled);
    else if (journal_)
      journal_->assigned(std::get<TaskReturned>(effect).msg_id, {});
  }
}

void TaskRelay::finish(Answers answers) {
  if (answers.empty()) return;
  if (journal_) {
    for (const Answer& answer : answers)
      journal_->finished(answer.msg_id, answer.engine, answer.outcome, answer.reply);
    const Result<Journal::Ticket> ticket = journal_->commit();
    tell_of_journal(ticket);
    if (ticket && !(answered_.empty() && journal_->is_durable(*ticket)))
      return answered_.push_back({*ticket, std::move(answers)});
  }
  for (Answer& answer : answers) deliver(answer);
}

void TaskRelay::recall(const RecallTask& effect) {
  Draft draft;
  draft.msg_type = recall_type;
  draft.content = Json{{"msg_id", effect.msg_id.text}, {"repetition", effect.repetition}};
  const auto frames = std::make_shared<TextFrames>(shared_.session.compose(draft, wall_now()));
  engines_.send(effect.engine.text, std::array{hub_ident}, frames, 0, Clock::now());
}

void TaskRelay::assign(AssignTask& effect) {
  effect.request = shared_.memory.for_engine(effect.request, effect.engine.text);
  const std::array client{client_of(*effect.request, effect.delimiter_index)};
  if (effect.repetition > 0) {
    const Result<Envelope> envelope = Envelope::locate(*effect.request, 1);
    check(envelope.has_value());
    assign_again(effect, *envelope, client[0]);
  } else {
    engines_.send(effect.engine.text, client, effect.request, effect.delimiter_index, Clock::now());
  }
  if (effect.is_resent) return;
  if (journal_) journal_->assigned(effect.msg_id, effect.engine);
  shared_.hub.post(TaskAssigned{std::move(effect.msg_id), std::move(effect.engine)});
}

/// The engine would drop a message that it saw before: one more key makes it another one.
void TaskRelay::assign_again(const AssignTask& effect, const Envelope& envelope,
                             std::string_view client) {
  Result<Json> header = unpack(shared_.packer(), envelope.header);
  if (!header) return shared_.bad_messages.add("task: a malformed header");
  (*header)["repetition"] = effect.repetition;
  if (effect.goes_first) (*header)["goes_first"] = true;
  const std::string packed = pack(shared_.packer(), *header);
  const std::string signature =
      shared_.signer().sign(packed, envelope.parent_header, envelope.metadata, envelope.content);
  const std::array<std::string_view, 4> head{client, delimiter, signature, packed};
  engines_.send(effect.engine.text, head, effect.request, effect.delimiter_index + 3, Clock::now());
}

void TaskRelay::deliver(Answer& answer) {
  const bool has_client = answer.delimiter_index > 0;
  bool is_lost = false;
  SharedFrames reply = SharedMemoryDesk::as_it_came(answer.reply);
  if (has_client && answer.is_own) {
    const std::array<std::string_view, 2> idents{answer.request->at(0), answer.engine.text};
    const std::size_t count = answer.engine.empty() ? 1 : 2;
    client_.answer(std::span(idents).first(count), reply, count, Clock::now());
  } else if (has_client) {
    const std::array<std::string_view, 2> idents{answer.request->at(0), answer.engine.text};
    is_lost = client_.reply(idents, reply, 2, Clock::now());
  }
  if (!has_client || is_lost) shared_.memory.drop(answer.reply);
  const bool is_whole = reply == answer.reply;  // nothing of it lies in shared memory
  SharedFrames kept =
      shared_.hub.post(TaskFinished{std::move(answer.engine), std::move(answer.msg_id),
                                    std::move(answer.reply), answer.outcome == TaskOutcome::aborted});
  if (!has_client) return;
  if (!is_whole) kept = compacted(*reply);
  replies_.sent(signature_of(answer.request, answer.delimiter_index),
                is_lost ? nullptr : std::move(kept));
}

/// The answer in the place of a reply: [engine, client, delimiter, ...] as an engine's reply would
/// have come, or without the engine.
TaskRelay::Answer TaskRelay::failure(FailTask& effect) const {
  const Frames& request = *effect.request;
  const WallTime now = wall_now();
  std::optional<std::string> engine;
  if (!effect.engine.empty()) engine = effect.engine.text;
  Draft draft = stand_in_reply(engine, {effect.error_name, effect.error_value}, now);
  if (engine) draft.idents.push_back(*engine);
  draft.idents.emplace_back(client_of(request, effect.delimiter_index));
  draft.msg_type = "apply_reply";
  draft.parent_header = std::string(request.at(effect.delimiter_index + 2));
  SharedFrames reply = std::make_shared<TextFrames>(shared_.session.compose(draft, now));
  return {std::move(effect.msg_id),
          std::move(effect.engine),
          std::move(effect.request),
          effect.delimiter_index,
          std::move(reply),
          TaskOutcome::failed,
          true};
}

}  // namespace px::controller
