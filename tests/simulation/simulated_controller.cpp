#include "tests/simulation/simulated_controller.hpp"

#include <algorithm>
#include <utility>

namespace px::simulation {
namespace {

using namespace std::chrono_literals;
using controller::Journal;
using controller::TaskOutcome;

constexpr Duration return_of_clients = 2s;

controller::TaskQueueOptions queue_options(const Setting& setting) {
  controller::TaskQueueOptions options;
  options.ahead = setting.ahead;
  options.quick_task = 300ms;
  options.ahead_lasts = 1s;  // as many as the setting allows
  options.hwm = setting.hwm + (setting.defect == Defect::queue_is_overfilled ? 1 : 0);
  return options;
}

SharedFrames frames_of(const Request& request) {
  return std::make_shared<TextFrames>(
      std::vector<std::string>{request.client, "<IDS|MSG>", request.signature, request.id,
                               std::to_string(request.retries)});
}

Request request_of(const Frames& frames) {
  return {std::string(frames.at(3)), std::string(frames.at(2)), std::string(frames.at(0)),
          std::stoi(std::string(frames.at(4)))};
}

SharedFrames reply_frames(const Answer& answer) {
  return std::make_shared<TextFrames>(
      std::vector<std::string>{answer.id, answer.is_ok ? "ok" : "error"});
}

bool is_ok(const Frames& reply) {
  return reply.at(1) == "ok";
}

}  // namespace

SimulatedController::SimulatedController(World& world, const Setting& setting,
                                         controller::Stocktaking stock,
                                         std::shared_ptr<SimulatedDisk> disk,
                                         Surroundings& surroundings)
    : world_(world),
      setting_(setting),
      surroundings_(surroundings),
      started_(world.now()),
      queue_(queue_options(setting), [&world] { return world.fraction(); }),
      stock_(std::move(stock)),
      backlog_({.tasks = setting.queue}, std::make_unique<SimulatedTexts>(world, disk)) {
  if (!disk) return;
  std::unique_ptr<controller::JournalSync> syncs;
  if (setting.journal == controller::JournalMode::power)
    syncs = std::make_unique<SimulatedSync>(world, disk, [this] { on_disk(); });
  controller::JournalOptions options{.mode = setting.journal, .cluster = "ours"};
  options.limits.segment_bytes = 1500;
  journal_ = std::make_unique<Journal>(disk, options, std::move(syncs));
}

// ---------------------------------------------------------------- what an earlier one wrote

void SimulatedController::restore() {
  if (!journal_ || has(Defect::journal_is_not_read)) return;
  for (controller::ReplayedTask& task : journal_->replay()) {
    const Request request = request_of(*task.request);
    history_.is_new(request.signature);
    if (has(Defect::answers_are_not_replayed)) task.is_finished = false;
    records_[request.id];
    if (!task.is_finished) {
      const Asked left{request, task.engine};
      note_arrival(left);
      if (must_wait(left))
        put_back(request);
      else
        waiting_.push_back(left);
      continue;
    }
    queue_.ended_before(request.id, task.outcome == TaskOutcome::ok, task.engine);
    if (task.reply) records_[request.id] = is_ok(*task.reply);
    replies_.sent(request.signature, task.reply);
  }
  world_.tell("the journal has " + std::to_string(waiting_.size()) + " unfinished tasks and " +
              std::to_string(records_.size() - waiting_.size()) + " results");
  commit_later();
  submit_waiting();
  look_later();
}

bool SimulatedController::is_given_up(const EngineUuid& given, controller::TaskRules& rules,
                                      EngineUuid& holder) {
  if (stock_.has_reported(given)) return false;
  if (queue_.has_engine(given)) {
    holder = given;
    return false;
  }
  return rules.retries-- == 0;
}

bool SimulatedController::finish_by_unknown(const Request& request) {
  const auto found = std::find_if(unknown_.begin(), unknown_.end(), [&](const Unknown& each) {
    return each.answer.id == request.id && each.answer.is_ok;
  });
  if (found == unknown_.end()) return false;
  const EngineUuid engine{found->engine};
  unknown_.erase(found);
  queue_.ended_before(request.id, true, engine);
  finish({{{request.id, request.client, true}, engine, request.signature, TaskOutcome::ok}});
  return true;
}

/// An engine that has reported sends them again, as it is given its tasks again.
void SimulatedController::take_unknown() {
  for (const Unknown& each : std::exchange(unknown_, {})) {
    if (!queue_.knows(each.answer.id))
      unknown_.push_back(each);
    else if (!stock_.has_reported(EngineUuid{each.engine}))
      take_reply(each.engine, each.answer);
  }
}

/// Asked for by the controller before: whoever waits for it is still there, or is not.
void SimulatedController::forward_unknown() {
  if (unknown_.empty() || !waiting_.empty() || world_.now() < started_ + return_of_clients) return;
  for (const Unknown& each : std::exchange(unknown_, {})) {
    if (backlog_.knows(each.answer.id))
      unknown_.push_back(each);
    else
      surroundings_.answer(each.answer);
  }
}

// ---------------------------------------------------------------- requests

void SimulatedController::take_request(const Request& request) {
  if (!history_.is_new(request.signature) || replies_.was_answered(request.signature)) {
    if (!replies_.was_answered(request.signature)) return;
    const SharedFrames reply = replies_.find(request.signature);
    surroundings_.answer({request.id, request.client, reply && is_ok(*reply)});  // else ResultLost
    return;
  }
  if (!journal_ || has(Defect::accepted_before_written)) return begin({request});
  journal_->submitted(MessageId{request.id}, *frames_of(request));
  const Result<Journal::Ticket> ticket = journal_->commit();
  if (!ticket) return refuse(request);
  if (arrived_.empty() && journal_->is_durable(*ticket)) return begin({request});
  arrived_.push_back({*ticket, request});
}

void SimulatedController::begin(Asked asked) {
  surroundings_.accepted(asked.request);
  note_arrival(asked);
  const bool is_stock_done = stock_.is_done(world_.now());
  if (is_stock_done) submit_waiting();
  if (must_wait(asked))
    put_back(asked.request);
  else if (is_stock_done)
    submit(asked);
  else
    waiting_.push_back(std::move(asked));
  look_later();
}

controller::TaskBacklog::Load SimulatedController::load() const {
  return {queue_.size() + waiting_.size(), queue_.bytes()};
}

/// Those that no engine has had.
void SimulatedController::note_arrival(const Asked& asked) {
  const std::string& id = asked.request.id;
  arrivals_.try_emplace(id, static_cast<int>(arrivals_.size()) + 1);
  if (!asked.given.empty() || stock_.is_held(id)) given_once_.insert(id);
}

bool SimulatedController::must_wait(const Asked& asked) const {
  const std::string& id = asked.request.id;
  if (backlog_.knows(id)) return true;
  const bool is_full = has(Defect::backlog_is_overtaken) ? load().tasks >= setting_.queue
                                                         : backlog_.takes(load());
  return is_full && asked.given.empty() && !stock_.is_held(id) && !queue_.knows(id);
}

void SimulatedController::put_back(const Request& request) {
  if (backlog_.knows(request.id)) return;
  surroundings_.waits(request);
  const Result<void> put =
      backlog_.push({MessageId{request.id}, frames_of(request)}, true, load());
  if (!put) world_.violate(request.id + " is refused: " + put.error().what);
}

void SimulatedController::refill() {
  if (!stock_.is_done(world_.now())) return;
  while (auto next = backlog_.pop(load(), world_.now()))
    if (!queue_.knows(next->msg_id.text)) submit({request_of(*next->frames)});
  take_unknown();
}

/// Tasks are given to engines in the order in which they came.
void SimulatedController::check_order(const std::string& id) {
  if (!given_once_.insert(id).second) return;
  const int arrival = arrivals_[id];
  if (arrival < latest_given_)
    world_.violate(id + " is given to an engine after a task that came later");
  latest_given_ = std::max(latest_given_, arrival);
}

void SimulatedController::submit_waiting() {
  if (waiting_.empty() || !stock_.is_done(world_.now())) return;
  for (const Asked& each : std::exchange(waiting_, {})) submit(each);
  take_unknown();
}

void SimulatedController::submit(const Asked& asked) {
  const Request& request = asked.request;
  EngineUuid holder = stock_.take_holder(request.id, asked.given);
  records_[request.id];
  controller::TaskRules rules;
  rules.retries = request.retries;
  if (finish_by_unknown(request)) return;
  if (!asked.given.empty() && holder.empty() && is_given_up(asked.given, rules, holder)) {
    queue_.ended_before(request.id, false, asked.given);
    return refuse(request);
  }
  if (!holder.empty()) given_once_.insert(request.id);
  perform(queue_.submit({MessageId{request.id}, frames_of(request), 1, rules, holder},
                        world_.now()));
}

void SimulatedController::refuse(const Request& request) {
  records_[request.id];
  finish({{{request.id, request.client, false}, {}, request.signature, TaskOutcome::failed}});
}

// ---------------------------------------------------------------- replies

void SimulatedController::take_reply(const std::string& engine, const Answer& answer) {
  if (!queue_.knows(answer.id)) unknown_.push_back({engine, answer});
  const TaskOutcome outcome = answer.is_ok ? TaskOutcome::ok : TaskOutcome::failed;
  perform(queue_.reply(engine, answer.id, outcome, reply_frames(answer), world_.now()));
}

void SimulatedController::operator()(controller::AssignTask& effect) {
  Request request = request_of(*effect.request);
  request.repetition = effect.repetition;
  if (effect.repetition > 0) request.signature += " again " + std::to_string(effect.repetition);
  check_order(request.id);
  surroundings_.give(effect.engine, request, effect.is_resent);
  if (!journal_ || effect.is_resent || has(Defect::assignment_is_not_written)) return;
  journal_->assigned(effect.msg_id, effect.engine);
  assigned_[effect.msg_id.text] = ~Journal::Ticket{};
}
void SimulatedController::operator()(controller::DeliverReply& effect) {
  const Request request = request_of(*effect.request);
  collected_.push_back({{request.id, request.client, effect.outcome == TaskOutcome::ok},
                        effect.engine, request.signature, effect.outcome});
}
void SimulatedController::operator()(controller::FailTask& effect) {
  const Request request = request_of(*effect.request);
  collected_.push_back(
      {{request.id, request.client, false}, effect.engine, request.signature, TaskOutcome::failed});
}

void SimulatedController::operator()(controller::RecallTask& effect) {
  Request request;
  request.id = effect.msg_id.text;
  request.repetition = effect.repetition;
  surroundings_.recall(effect.engine, request);
}
void SimulatedController::operator()(controller::TaskReturned& effect) {
  if (journal_) journal_->assigned(effect.msg_id, {});
}

void SimulatedController::perform(controller::TaskEffects effects) {
  for (controller::TaskEffect& effect : effects)
    std::visit([this](auto& each) { (*this)(each); }, effect);
  finish(std::exchange(collected_, {}));
  commit_later();
  look_later();
}

void SimulatedController::finish(std::vector<Final> answers) {
  if (answers.empty()) return;
  if (journal_ && !has(Defect::answered_before_written)) {
    for (const Final& each : answers) {
      Answer written = each.answer;
      if (has(Defect::answers_are_changed)) written.is_ok = !written.is_ok;
      journal_->finished(MessageId{written.id}, each.engine, each.outcome, reply_frames(written));
    }
    const Result<Journal::Ticket> ticket = journal_->commit();
    if (ticket && !(answered_.empty() && journal_->is_durable(*ticket)))
      return answered_.push_back({*ticket, std::move(answers)});
    for (const Final& each : answers)
      if (!ticket) surroundings_.answered_unwritten(each.answer.id);
  }
  for (const Final& each : answers) deliver(each);
}

void SimulatedController::deliver(const Final& final) {
  if (!has(Defect::replies_are_not_kept))
    replies_.sent(final.signature, reply_frames(final.answer));
  records_[final.answer.id] = final.answer.is_ok;
  surroundings_.answer(final.answer);
}

// ---------------------------------------------------------------- the disk

void SimulatedController::on_disk() {
  const auto is_due = [this](const auto& held) {
    return !held.empty() && (journal_->failure() || journal_->is_durable(held.front().ticket));
  };
  while (is_due(arrived_)) {
    const auto [ticket, request] = std::move(arrived_.front());
    arrived_.pop_front();
    if (journal_->is_durable(ticket))
      begin({request});
    else
      refuse(request);
  }
  while (is_due(answered_)) {
    const auto [ticket, answers] = std::move(answered_.front());
    answered_.pop_front();
    for (const Final& each : answers) {
      if (!journal_->is_durable(ticket)) surroundings_.answered_unwritten(each.answer.id);
      deliver(each);
    }
  }
}

/// At the end of the turn: what may be written late.
void SimulatedController::commit_later() {
  if (!journal_ || std::exchange(commits_later_, true)) return;
  world_.after({}, [this, lives = lives_] {
    if (!*lives) return;
    commits_later_ = false;
    const Result<Journal::Ticket> ticket = journal_->commit();
    for (auto& [id, written] : assigned_)
      if (ticket && written == ~Journal::Ticket{}) written = *ticket;
  });
}

bool SimulatedController::has_written_assignment(const std::string& id) const {
  const auto found = assigned_.find(id);
  return !journal_ || found == assigned_.end() ||
         (found->second != ~Journal::Ticket{} && journal_->is_durable(found->second));
}

// ---------------------------------------------------------------- engines, time

void SimulatedController::take_back(const std::string& engine, const Request& request,
                                    bool is_ending) {
  if (has(Defect::returns_are_ignored)) return;
  if (is_ending) queue_.engine_ending(EngineUuid{engine});
  perform(queue_.given_back(engine, request.id, request.repetition, world_.now()));
}

void SimulatedController::engine_joined(const EngineUuid& engine, bool gives_back) {
  perform(queue_.engine_joined(engine, world_.now(), gives_back));
  stock_.joined(engine);
  submit_waiting();
}

void SimulatedController::engine_holds(const EngineUuid& engine, const controller::HeldTasks& held,
                                       bool gives_back) {
  stock_.reported(engine, held);
  if (queue_.has_engine(engine))
    perform(queue_.engine_joined(engine, world_.now(), gives_back));
  submit_waiting();
  look_later();
}

void SimulatedController::engine_left(const EngineUuid& engine) {
  stock_.left(engine);
  perform(queue_.engine_left(engine, world_.now(), {engine.text, "it died", true}));
}

void SimulatedController::engine_reconnected(const EngineUuid& engine) {
  perform(queue_.engine_reconnected(engine, world_.now()));
}

/// Wakes the controller when one of its deciders has something to do.
void SimulatedController::look_later() {
  Instant next = Instant::max();
  const auto consider = [&next](std::optional<Instant> due) {
    if (due) next = std::min(next, *due);
  };
  consider(queue_.next_deadline());
  if (!waiting_.empty()) consider(stock_.is_done(world_.now()) ? world_.now() : stock_.deadline());
  if (!backlog_.empty() && !stock_.is_done(world_.now())) consider(stock_.deadline());
  if (stock_.is_done(world_.now())) consider(backlog_.next_deadline(load()));
  if (!unknown_.empty() && waiting_.empty() && world_.now() < started_ + return_of_clients)
    consider(started_ + return_of_clients);
  if (next >= next_look_ || next == Instant::max()) return;
  next_look_ = next;
  world_.at(next, [this, lives = lives_, next] {
    if (!*lives || next_look_ != next) return;
    next_look_ = Instant::max();
    perform(queue_.on_time(world_.now()));
    submit_waiting();
    refill();
    forward_unknown();
    look_later();
  });
}

bool SimulatedController::is_at_rest() const {
  return queue_.size() == 0 && waiting_.empty() && backlog_.empty() && arrived_.empty() && answered_.empty();
}

std::optional<bool> SimulatedController::result_of(const std::string& id) const {
  const auto found = records_.find(id);
  return found == records_.end() ? std::nullopt : found->second;
}

}  // namespace px::simulation
