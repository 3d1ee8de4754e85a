#include "tests/simulation/simulated_controller.hpp"

#include <algorithm>
#include <utility>

#include "wire/text.hpp"

namespace px::simulation {
namespace {

using namespace std::chrono_literals;
using controller::ArrivedTask;
using controller::Journal;
using controller::TaskOutcome;

controller::TaskQueueOptions queue_options(const Setting& setting) {
  controller::TaskQueueOptions options;
  options.ahead = setting.ahead;
  options.quick_task = 300ms;
  options.ahead_lasts = 1s;  // as many as the setting allows
  options.hwm = setting.hwm + (setting.defect == Defect::queue_is_overfilled ? 1 : 0);
  return options;
}

SharedFrames frames_of(const Request& request) {
  return std::make_shared<TextFrames>(std::vector<std::string>{
      request.client, "<IDS|MSG>", request.signature, request.id, std::to_string(request.retries),
      std::to_string(request.ranks), join(request.after, ",")});
}

Request request_of(const Frames& frames) {
  Request request{std::string(frames.at(3)), std::string(frames.at(2)), std::string(frames.at(0)),
                  std::stoi(std::string(frames.at(4)))};
  request.ranks = std::stoul(std::string(frames.at(5)));
  if (!frames.at(6).empty())
    for (const std::string_view each : split(frames.at(6), ',')) request.after.emplace_back(each);
  return request;
}

SharedFrames reply_frames(const std::string& engine, const Answer& answer) {
  return std::make_shared<TextFrames>(
      std::vector<std::string>{engine, answer.client, answer.id, answer.is_ok ? "ok" : "error"});
}

Answer answer_of(const Frames& reply) {
  return {std::string(reply.at(2)), std::string(reply.at(1)), reply.at(3) == "ok"};
}

}  // namespace

SimulatedController::SimulatedController(World& world, const Setting& setting,
                                         controller::Stocktaking stock,
                                         std::shared_ptr<SimulatedDisk> disk,
                                         Surroundings& surroundings)
    : world_(world),
      setting_(setting),
      surroundings_(surroundings),
      disk_(std::move(disk)),
      ledger_(
          queue_options(setting), [&world] { return world.fraction(); }, std::move(stock),
          make_journal(),
          {{.tasks = setting.queue},
           std::make_unique<SimulatedTexts>(world, disk_, has(Defect::backlog_is_overtaken))},
          *this, world.now()) {}

std::unique_ptr<Journal> SimulatedController::make_journal() {
  if (!disk_) return nullptr;
  std::unique_ptr<controller::JournalSync> syncs;
  if (setting_.journal == controller::JournalMode::power)
    syncs = std::make_unique<SimulatedSync>(world_, disk_, [this] {
      ledger_.on_journal(world_.now());
      turn_ends();
    });
  controller::JournalOptions options{.mode = setting_.journal, .cluster = "ours"};
  options.limits.segment_bytes = 1500;
  auto journal = std::make_unique<Journal>(disk_, options, std::move(syncs));
  journal_ = journal.get();
  return journal;
}

// ---------------------------------------------------------------- what happens

void SimulatedController::restore() {
  if (has(Defect::journal_is_not_read)) return;
  ledger_.restore(world_.now());
  world_.tell("the journal has " + std::to_string(ledger_.unfinished()) + " unfinished tasks");
  turn_ends();
}

void SimulatedController::take_request(const Request& request) {
  ledger_.requested(*open_request(frames_of(request)), world_.now());
  ledger_.commit(world_.now());
  turn_ends();
}

void SimulatedController::take_reply(const std::string& engine, const Answer& answer) {
  ledger_.replied({reply_frames(engine, answer), MessageId{answer.id},
                   answer.is_ok ? TaskOutcome::ok : TaskOutcome::failed, answer.repetition},
                  world_.now());
  ledger_.commit(world_.now());
  turn_ends();
}

void SimulatedController::take_back(const std::string& engine, const Request& request,
                                    bool is_ending) {
  if (has(Defect::returns_are_ignored)) return;
  ledger_.given_back(EngineUuid{engine}, {MessageId{request.id}, request.repetition, is_ending},
                     world_.now());
  turn_ends();
}

void SimulatedController::engine_placed(const EngineUuid& engine,
                                        const controller::WorldPlace& place) {
  ledger_.engine_placed(engine, place);
}

void SimulatedController::engine_joined(const EngineUuid& engine, bool gives_back) {
  ledger_.engine_joined(engine, gives_back, world_.now());
  turn_ends();
}

void SimulatedController::engine_holds(const EngineUuid& engine, const controller::HeldTasks& held,
                                       bool gives_back) {
  given_once_.insert(held.msg_ids.begin(), held.msg_ids.end());
  ledger_.engine_holds(engine, held, gives_back, world_.now());
  turn_ends();
}

void SimulatedController::engine_left(const EngineUuid& engine) {
  ledger_.engine_left(engine, {engine.text, "it died", true}, world_.now());
  turn_ends();
}

void SimulatedController::engine_reconnected(const EngineUuid& engine) {
  ledger_.engine_reconnected(engine, world_.now());
  turn_ends();
}

/// As Server::run() ends each turn.
void SimulatedController::turn_ends() {
  ledger_.on_time(world_.now());
  if (ledger_.in_backlog() > waited_) surroundings_.waits(ledger_.in_backlog() - waited_);
  waited_ = ledger_.in_backlog();
  if (journal_)
    if (const Result<Journal::Ticket> ticket = journal_->commit())
      for (auto& [id, written] : assigned_)
        if (written == ~Journal::Ticket{}) written = *ticket;
  look_later();
}

/// Wakes the controller when its ledger has something to do.
void SimulatedController::look_later() {
  const Instant next = ledger_.next_deadline(world_.now()).value_or(Instant::max());
  if (next >= next_look_ || next == Instant::max()) return;
  next_look_ = next;
  world_.at(next, [this, lives = lives_, next] {
    if (!*lives || next_look_ != next) return;
    next_look_ = Instant::max();
    turn_ends();
  });
}

// ---------------------------------------------------------------- what the ledger reads and does

std::optional<ArrivedTask> SimulatedController::open_request(const SharedFrames& frames) {
  return ArrivedTask{frames, 1, MessageId{request_of(*frames).id}};
}

Result<controller::TaskRules> SimulatedController::rules_of(const ArrivedTask& task) {
  controller::TaskRules rules;
  Request request = request_of(*task.frames);
  rules.retries = request.retries;
  rules.ranks = {request.ranks, request.ranks};
  if (!has(Defect::dependencies_are_ignored)) rules.after.msg_ids = std::move(request.after);
  return rules;
}

SharedFrames SimulatedController::error_reply(const controller::FailTask& failure) {
  const Request request = request_of(*failure.request);
  const bool is_disk_refusing = disk_ && (disk_->is_full() || journal_->failure());
  if (failure.error_name == "Overloaded" && !is_disk_refusing)
    world_.violate(request.id + " is refused: " + failure.error_value);
  if (failure.error_name == "InvalidDependency") surroundings_.dependency_unknown(request);
  return reply_frames(failure.engine.text, {request.id, request.client, false});
}

/// Tasks are given to engines in the order in which they came.
void SimulatedController::check_order(const std::string& id) {
  if (!given_once_.insert(id).second || setting_.gangs > 0 || setting_.dependents > 0) return;
  const int arrival = arrivals_[id];
  if (arrival < latest_given_)
    world_.violate(id + " is given to an engine after a task that came later");
  latest_given_ = std::max(latest_given_, arrival);
}

void SimulatedController::assign(controller::AssignTask& task) {
  Request request = request_of(*task.request);
  request.repetition = task.repetition;
  if (task.repetition > 0) request.signature += " again " + std::to_string(task.repetition);
  if (task.gang)
    for (const EngineUuid& each : task.gang->engines) request.gang.push_back(each.text);
  check_order(request.id);
  surroundings_.give(task.engine, request, task.is_resent);
}

void SimulatedController::recall(const controller::RecallTask& task) {
  Request request;
  request.id = task.msg_id.text;
  request.repetition = task.repetition;
  surroundings_.recall(task.engine, request);
}

void SimulatedController::interrupt(const controller::InterruptTask& task) {
  if (!has(Defect::ranks_are_not_interrupted))
    surroundings_.interrupt(task.engine, task.msg_id.text);
}

SharedFrames SimulatedController::answer(controller::TaskAnswer& answer) {
  const Request request = request_of(*answer.request);
  const bool is_written = journal_ && journal_->is_finished(answer.msg_id) && !journal_->failure();
  if (journal_ && !is_written) surroundings_.answered_unwritten(request.id);
  const bool is_ok = (answer.outcome == TaskOutcome::ok) != has(Defect::answers_are_changed);
  records_[request.id] = answer.outcome == TaskOutcome::ok;
  surroundings_.answer({request.id, request.client, is_ok});
  return answer.reply;
}

void SimulatedController::answer_again(const ArrivedTask&, const SharedFrames& reply) {
  if (!has(Defect::replies_are_not_kept)) surroundings_.answer(answer_of(*reply));
}

void SimulatedController::refuse(const ArrivedTask& task, const controller::Problem&) {
  const Request request = request_of(*task.frames);
  surroundings_.answer({request.id, request.client, false});
}

void SimulatedController::forward(const SharedFrames& reply) {
  surroundings_.answer(answer_of(*reply));
}

void SimulatedController::accepted(const ArrivedTask& task) {
  surroundings_.accepted(request_of(*task.frames));
  arrivals_.try_emplace(task.msg_id.text, static_cast<int>(arrivals_.size()) + 1);
  if (!task.given.empty()) given_once_.insert(task.msg_id.text);
}

SharedFrames SimulatedController::record(controller::HubEvent event) {
  if (const auto* submitted = std::get_if<controller::TaskSubmitted>(&event))
    records_[submitted->msg_id.text];
  else if (const auto* finished = std::get_if<controller::TaskFinished>(&event))
    records_[finished->msg_id.text] = answer_of(*finished->frames).is_ok;
  else if (const auto* assigned = std::get_if<controller::TaskAssigned>(&event))
    assigned_[assigned->msg_id.text] = ~Journal::Ticket{};
  return nullptr;
}

std::optional<bool> SimulatedController::result_of(const std::string& id) const {
  const auto found = records_.find(id);
  return found == records_.end() ? std::nullopt : found->second;
}

bool SimulatedController::has_written_assignment(const std::string& id) const {
  const auto found = assigned_.find(id);
  return !journal_ || found == assigned_.end() ||
         (found->second != ~Journal::Ticket{} && journal_->is_durable(found->second));
}

}  // namespace px::simulation
