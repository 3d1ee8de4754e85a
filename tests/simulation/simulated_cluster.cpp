#include "tests/simulation/simulated_cluster.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <utility>

#include "client/call.hpp"
#include "client/pending.hpp"
#include "controller/scheduler/sent_replies.hpp"
#include "controller/scheduler/stocktaking.hpp"
#include "controller/scheduler/task_queue.hpp"
#include "engine/kept_replies.hpp"
#include "wire/replay_history.hpp"

namespace px::simulation {
namespace {

using namespace std::chrono_literals;
using controller::TaskOutcome;

/// A balanced request; engines know it by its signature.
struct Request {
  std::string id, signature;
  int repetition = 0;
};
struct Answer {
  std::string id;
  bool is_ok = true;
};

/// The clock, what is going to happen, and the one source of chance.
class World {
 public:
  explicit World(std::uint64_t seed) : chance_(seed) {}

  Instant now() const { return now_; }
  void after(Duration delay, std::function<void()> event) { at(now_ + delay, std::move(event)); }
  void at(Instant when, std::function<void()> event) {
    events_.push({std::max(when, now_), ++number_, std::move(event)});
  }
  /// False: nothing is going to happen any more.
  bool step() {
    if (events_.empty()) return false;
    Event next = events_.top();
    events_.pop();
    now_ = next.when;
    next.happens();
    return true;
  }
  /// One of low .. high.
  int pick(int low, int high) {
    return low + static_cast<int>(chance_() % static_cast<std::uint64_t>(high - low + 1));
  }
  Duration between(int low_ms, int high_ms) {
    return std::chrono::milliseconds(pick(low_ms, high_ms));
  }
  double fraction() { return static_cast<double>(chance_() >> 11) * 0x1p-53; }

  void tell(const std::string& what) {
    char time[32];
    const auto passed = std::chrono::duration<double>(now_ - Instant{} - start).count();
    std::snprintf(time, sizeof time, "%9.3f s  ", passed);
    story.push_back(time + what);
  }
  void violate(const std::string& what) {
    tell("VIOLATED: " + what);
    if (!violation) violation = what;
  }

  std::vector<std::string> story;
  std::optional<std::string> violation;

 private:
  struct Event {
    Instant when;
    std::uint64_t number;
    std::function<void()> happens;
    bool operator<(const Event& other) const {
      return std::pair(other.when, other.number) < std::pair(when, number);
    }
  };
  static constexpr Duration start = 1h;
  Instant now_ = Instant{} + start;
  std::uint64_t number_ = 0;
  std::mt19937_64 chance_;
  std::priority_queue<Event> events_;
};

/// One direction of a connection.
class Link {
 public:
  explicit Link(World& world) : world_(world) {}
  void send(std::function<void()> arrives) {
    const Instant due = std::max(world_.now(), up_at_) + world_.between(1, 5);
    last_ = std::max(due, last_);
    world_.at(last_, [this, alive = alive_, broken = breaks_, event = std::move(arrives)] {
      if (*alive && broken == breaks_) event();
    });
  }
  /// What is under way is lost; what is sent from now on waits until `up`.
  void cut(Instant up) {
    ++breaks_;
    up_at_ = up;
  }
  void end() { *alive_ = false; }

 private:
  World& world_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  int breaks_ = 0;
  Instant up_at_{}, last_{};
};

struct Engine {
  Engine(World& world, std::string its_uuid) : uuid(std::move(its_uuid)), to(world), from(world) {}
  std::string uuid;
  bool is_alive = true;
  bool gives_back = true;
  engine::KeptReplies kept;
  struct Given {
    Request request;
    int controller;  // which one of all has given it
  };
  std::deque<Given> queue;  // the first one runs
  Link to, from;            // the controller's messages, and its own
};

/// What dies with a controller.
struct Controller {
  Controller(World& world, const Setting& setting, controller::Stocktaking its_stock)
      : queue(options(setting), [&world] { return world.fraction(); }),
        stock(std::move(its_stock)),
        started(world.now()) {}
  static controller::TaskQueueOptions options(const Setting& setting) {
    controller::TaskQueueOptions options;
    options.ahead = setting.ahead;
    options.quick_task = 300ms;
    options.hwm = setting.hwm + (setting.defect == Defect::queue_is_overfilled ? 1 : 0);
    return options;
  }
  controller::TaskQueue queue;
  controller::Stocktaking stock;
  ReplayHistory history;
  controller::SentReplies replies;
  std::vector<Request> waiting;  // for the end of the stocktaking
  Instant started;
  Instant next_look = Instant::max();
};

class Cluster {
 public:
  explicit Cluster(const Setting& setting)
      : setting_(setting), world_(setting.seed), to_controller_(world_), to_client_(world_) {}

  Outcome run() {
    controller_ = std::make_unique<Controller>(world_, setting_, controller::Stocktaking{});
    for (int i = 0; i < setting_.engines; ++i) add_engine();
    for (int i = 0; i < setting_.tasks; ++i)
      world_.after(world_.between(0, 4000), [this] { submit(); });
    for (int i = 0; i < setting_.faults; ++i)
      world_.after(world_.between(10, 20000), [this] { do_harm(); });
    for (int steps = 0; steps < most_steps && world_.step(); ++steps) check_always();
    check_at_rest();
    return {std::move(world_.story), world_.violation, controllers_, deaths_, cuts_, recalls_};
  }

 private:
  static constexpr int most_steps = 200'000;
  static constexpr Duration stock_patience = 5s, return_of_clients = 2s;

  bool has(Defect defect) const { return setting_.defect == defect; }

  // ---------------------------------------------------------------- the client
  struct Submitted {
    std::shared_ptr<client::Call> call;
    int answers = 0;
    int retries = 0;
    const Engine* holder = nullptr;  // it runs there, or was done there without an error
  };

  void submit() {
    const std::string id = "t" + std::to_string(submitted_.size() + 1);
    Submitted& task = submitted_[id];
    task.retries = world_.pick(0, 2);
    task.call = std::make_shared<client::Call>(
        std::vector<client::TaskSent>{client::TaskSent{MessageId{id}, std::nullopt, {}, {}, {}}});
    task.call->on_answer([&task](std::size_t) { ++task.answers; });
    auto sent = std::make_shared<client::SentRequest>(
        client::SentRequest{submitted_.size(), client::Way::balanced, {id, "signed " + id}});
    pending_.add(MessageId{id}, {.call = task.call,
                                 .task = 0,
                                 .engine = {},
                                 .output_end = client::OutputEnd::none,
                                 .sent = sent,
                                 .way = client::Way::balanced});
    world_.tell("client submits " + id + " with " + std::to_string(task.retries) + " retries");
    send({id, "signed " + id});
  }
  void send(const Request& request) {
    to_controller_.send([this, request] { take_request(request); });
  }
  void take_answer(const Answer& answer) {
    const auto status = answer.is_ok ? client::TaskStatus::ok : client::TaskStatus::error;
    const bool is_first = pending_.answer({MessageId{answer.id}, status, {}, ""}, {}, {});
    world_.tell("client gets " + answer.id + (answer.is_ok ? "" : " as an error") +
                (is_first ? "" : ", which it has already"));
    if (!is_first && has(Defect::client_takes_any_reply)) ++submitted_[answer.id].answers;
  }
  void meet_new_controller() {
    const client::Pending::Unanswered unanswered = pending_.begin_again();
    if (!unanswered.lost.empty()) world_.violate("a task cannot be sent again");
    if (has(Defect::client_forgets)) return;
    world_.tell("client sends " + std::to_string(unanswered.to_send.size()) + " tasks again");
    for (const auto& request : unanswered.to_send) send({request->frames[0], request->frames[1]});
  }

  /// What was under way is gone; the controller has what it had.
  void ask_again() {
    const auto unanswered = pending_.begin_again_by({client::Way::balanced});
    world_.tell("client sends " + std::to_string(unanswered.to_send.size()) +
                " tasks again, as its connection broke");
    for (const auto& request : unanswered.to_send) send({request->frames[0], request->frames[1]});
  }

  // ---------------------------------------------------------------- the controller
  void take_request(const Request& request) {
    if (!controller_->history.is_new(request.signature) ||
        controller_->replies.was_answered(request.signature)) {
      if (const SharedFrames reply = controller_->replies.find(request.signature))
        answer_client({request.id, reply->at(1) == "ok"});
      return;
    }
    if (controller_->stock.is_done(world_.now()))
      enqueue(request);
    else
      controller_->waiting.push_back(request);
    look_later();
  }
  void enqueue(const Request& request) {
    controller::TaskRules rules;
    rules.retries = submitted_[request.id].retries;
    const auto frames = std::make_shared<TextFrames>(
        std::vector<std::string>{"client", "<IDS|MSG>", request.signature, request.id});
    EngineUuid holder = controller_->stock.take_holder(request.id);
    perform(
        controller_->queue.submit({MessageId{request.id}, frames, 1, rules, holder}, world_.now()));
  }
  void enqueue_waiting() {
    if (controller_->waiting.empty() || !controller_->stock.is_done(world_.now())) return;
    for (const Request& request : std::exchange(controller_->waiting, {})) enqueue(request);
  }
  void perform(controller::TaskEffects effects) {
    for (controller::TaskEffect& effect : effects)
      std::visit([this](auto& each) { (*this)(each); }, effect);
    look_later();
  }

 public:
  void operator()(controller::AssignTask& effect) {
    const std::string signature =
        std::string(effect.request->at(2)) +
        (effect.repetition > 0 ? " again " + std::to_string(effect.repetition) : "");
    const auto found = engines_.find(effect.engine.text);
    if (found == engines_.end()) return;
    world_.tell("controller gives " + effect.msg_id.text + " to " + effect.engine.text +
                (effect.is_resent ? " once more" : ""));
    found->second->to.send(
        [this, engine = found->second.get(),
         request = Request{effect.msg_id.text, signature, effect.repetition}] {
          take_task(*engine, request);
        });
  }
  void operator()(controller::RecallTask& effect) {
    const auto found = engines_.find(effect.engine.text);
    if (found == engines_.end()) return;
    world_.tell("controller recalls " + effect.msg_id.text + " from " + effect.engine.text);
    ++recalls_;
    found->second->to.send(
        [this, engine = found->second.get(),
         request = Request{effect.msg_id.text, "", effect.repetition}] {
          take_recall(*engine, request);
        });
  }
  void operator()(controller::TaskReturned&) {}
  void operator()(controller::DeliverReply& effect) {
    deliver({effect.msg_id.text, effect.outcome == TaskOutcome::ok}, *effect.request);
  }
  void operator()(controller::FailTask& effect) {
    deliver({effect.msg_id.text, false}, *effect.request);
  }

 private:
  void deliver(const Answer& answer, const Frames& request) {
    const auto reply = std::make_shared<TextFrames>(
        std::vector<std::string>{answer.id, answer.is_ok ? "ok" : "error"});
    if (!has(Defect::replies_are_not_kept)) controller_->replies.sent(request.at(2), reply);
    answer_client(answer);
  }
  void answer_client(const Answer& answer) {
    to_client_.send([this, answer] { take_answer(answer); });
  }
  void take_reply(const std::string& engine, const Answer& answer) {
    const TaskOutcome outcome = answer.is_ok ? TaskOutcome::ok : TaskOutcome::failed;
    if (!controller_->queue.knows(answer.id)) {
      // Asked for by the controller before: whoever waits for it is still there, or is not.
      const Duration age = world_.now() - controller_->started;
      const Controller* const known = controller_.get();
      world_.after(std::max(Duration{}, return_of_clients - age), [this, known, answer] {
        if (controller_.get() == known) answer_client(answer);
      });
    }
    perform(controller_->queue.reply(engine, answer.id, outcome, std::make_shared<TextFrames>(),
                                     world_.now()));
  }
  /// Wakes the controller when one of its deciders has something to do.
  void look_later() {
    if (!controller_) return;
    Instant next = Instant::max();
    for (const auto& due : {controller_->queue.next_deadline(), controller_->stock.deadline()})
      if (due) next = std::min(next, *due);
    if (next >= controller_->next_look || next == Instant::max()) return;
    controller_->next_look = next;
    world_.at(next, [this, known = controller_.get(), next] {
      if (controller_.get() != known || known->next_look != next) return;
      known->next_look = Instant::max();
      enqueue_waiting();
      perform(known->queue.on_time(world_.now()));
    });
  }

  // ---------------------------------------------------------------- the engines
  void add_engine() {
    const std::string uuid = "engine" + std::to_string(++engine_count_);
    auto made = std::make_unique<Engine>(world_, uuid);
    Engine& engine = *made;
    engine.gives_back = engine_count_ % 4 != 0;  // as those of ipyparallel
    engines_[uuid] = std::move(made);
    register_engine(engine, world_.between(50, 400));
  }
  /// It tells who it is, and what it has in hand.
  void register_engine(Engine& engine, Duration delay) {
    world_.after(delay, [this, &engine, known = controller_.get()] {
      if (!engine.is_alive || !controller_ || controller_.get() != known) return;
      world_.tell(engine.uuid + " joins");
      perform(controller_->queue.engine_joined(EngineUuid{engine.uuid}, world_.now(),
                                                engine.gives_back));
      controller_->stock.joined(EngineUuid{engine.uuid});
      controller_->stock.reported(EngineUuid{engine.uuid}, engine.kept.held_by(0));
      enqueue_waiting();
      look_later();
    });
  }
  void take_task(Engine& engine, const Request& request) {
    if (!engine.is_alive) return;
    const engine::KeptReplies::Entry* known = engine.kept.find(request.signature);
    const bool is_given_back = known && known->is_given_back;
    if (is_given_back) known = engine.kept.find_latest(MessageId{request.id});
    if (is_given_back && !known && !has(Defect::engine_runs_again))
      return give_back(engine, request);
    if (known && !has(Defect::engine_runs_again)) {
      if (known->is_answered) reply(engine, {request.id, known->reply.at(0) == "ok"});
      return;
    }
    engine.kept.arrived(request.signature, MessageId{request.id}, 0);
    engine.queue.push_back({request, controllers_});
    const auto given = std::count_if(engine.queue.begin(), engine.queue.end(), [this](auto& each) {
      return each.controller == controllers_;
    });
    const std::size_t most = setting_.hwm + (engine.gives_back ? setting_.ahead : 0);
    if (setting_.hwm > 0 && static_cast<std::size_t>(given) > most)
      world_.violate(engine.uuid + " was given " + std::to_string(given) + " tasks at a time");
    if (engine.queue.size() == 1) begin(engine);
  }
  /// The first one of the queue runs.
  void take_recall(Engine& engine, const Request& recall) {
    if (!engine.is_alive) return;
    const auto waiting = std::find_if(
        engine.queue.begin(), engine.queue.end(),
        [&](const Engine::Given& each) { return each.request.id == recall.id; });
    if (waiting != engine.queue.end() && waiting != engine.queue.begin()) {
      engine.kept.given_back(waiting->request.signature);
      if (!has(Defect::engine_keeps_what_it_gives)) engine.queue.erase(waiting);
    } else if (!engine.kept.was_given_back(MessageId{recall.id})) {
      return;
    }
    give_back(engine, recall);
  }
  void give_back(Engine& engine, const Request& request, bool is_ending = false) {
    world_.tell(engine.uuid + " gives " + request.id + " back");
    engine.from.send([this, uuid = engine.uuid, request, is_ending] {
      if (has(Defect::returns_are_ignored)) return;
      if (is_ending) controller_->queue.engine_ending(EngineUuid{uuid});
      perform(controller_->queue.given_back(uuid, request.id, request.repetition, world_.now()));
    });
  }
  void begin(Engine& engine) {
    const Request request = engine.queue.front().request;
    Submitted& task = submitted_[request.id];
    if (task.retries == 0 && task.holder && task.holder->is_alive)
      world_.violate(request.id + " runs on " + engine.uuid + " though " + task.holder->uuid +
                     " has it");
    task.holder = &engine;
    const bool is_ok = world_.pick(0, 9) > 0;
    world_.after(world_.between(5, 900), [this, &engine, request, is_ok] {
      if (!engine.is_alive) return;
      engine.queue.pop_front();
      if (Submitted& ended = submitted_[request.id]; !is_ok && ended.holder == &engine)
        ended.holder = nullptr;
      world_.tell(engine.uuid + " has done " + request.id + (is_ok ? "" : ", which fails"));
      engine.kept.answered(request.signature, {is_ok ? "ok" : "error"});
      reply(engine, {request.id, is_ok});
      if (!engine.queue.empty()) begin(engine);
    });
  }
  void reply(Engine& engine, const Answer& answer) {
    engine.from.send([this, uuid = engine.uuid, answer] { take_reply(uuid, answer); });
  }

  // ---------------------------------------------------------------- harm
  void do_harm() {
    const int what = world_.pick(0, 11);
    if (what > 9) return cut_client();
    if (what < 5) return cut_engine();
    if (what < 6) return kill_engine();
    if (what < 7) return end_engine();
    if (controller_) kill_controller();
  }
  std::vector<Engine*> living() {
    std::vector<Engine*> all;
    for (auto& [uuid, engine] : engines_)
      if (engine->is_alive) all.push_back(engine.get());
    return all;
  }
  Engine& any_engine() {
    const std::vector<Engine*> all = living();
    return *all[static_cast<std::size_t>(world_.pick(0, static_cast<int>(all.size()) - 1))];
  }
  void cut_engine() {
    if (!controller_ || living().empty()) return;
    Engine& engine = any_engine();
    const Duration gap = world_.between(1, world_.pick(0, 1) ? 300 : 20000);
    ++cuts_;
    world_.tell("the connection of " + engine.uuid + " breaks for " + std::to_string(gap / 1ms) +
                " ms");
    engine.to.cut(world_.now() + gap);
    engine.from.cut(world_.now() + gap);
    if (has(Defect::no_reconnection)) return;
    world_.after(gap + world_.between(1, 50), [this, &engine, known = controller_.get()] {
      if (!engine.is_alive || !controller_ || controller_.get() != known) return;
      world_.tell(engine.uuid + " is connected again");
      perform(controller_->queue.engine_reconnected(EngineUuid{engine.uuid}, world_.now()));
    });
  }
  void cut_client() {
    if (!controller_) return;
    const Duration gap = world_.between(1, world_.pick(0, 1) ? 300 : 20000);
    ++cuts_;
    world_.tell("the connection of the client breaks for " + std::to_string(gap / 1ms) + " ms");
    to_controller_.cut(world_.now() + gap);
    to_client_.cut(world_.now() + gap);
    if (has(Defect::client_waits_on)) return;
    world_.after(gap + world_.between(1, 50), [this, known = controller_.get()] {
      if (controller_ && controller_.get() == known) ask_again();
    });
  }
  void kill_engine() {
    if (!living().empty()) kill(any_engine(), "dies");
  }
  /// As it is asked to: what it has not begun it gives back, what runs is interrupted.
  void end_engine() {
    if (living().empty()) return;
    Engine& engine = any_engine();
    while (engine.gives_back && engine.queue.size() > 1) {
      const Request last = engine.queue.back().request;
      engine.queue.pop_back();
      engine.kept.given_back(last.signature);
      give_back(engine, last, true);
    }
    kill(engine, "ends");
  }
  void kill(Engine& engine, const std::string& how) {
    ++deaths_;
    world_.tell(engine.uuid + " " + how);
    engine.is_alive = false;
    engine.to.end();
    if (how == "dies") engine.from.end();
    world_.after(world_.between(500, 3000), [this] { add_engine_or_wait(); });
    if (has(Defect::deaths_go_unnoticed)) return;
    world_.after(250ms, [this, uuid = EngineUuid{engine.uuid}, known = controller_.get()] {
      if (!controller_ || controller_.get() != known) return;
      controller_->stock.left(uuid);
      perform(controller_->queue.engine_left(uuid, world_.now(), {uuid.text, "it died", true}));
      enqueue_waiting();
    });
  }
  void add_engine_or_wait() {
    if (controller_) return add_engine();
    world_.after(100ms, [this] { add_engine_or_wait(); });
  }
  void kill_controller() {
    world_.tell("the controller dies");
    controller_.reset();
    ++controllers_;
    const Duration gap = world_.between(50, 3000);
    const Instant back = world_.now() + gap;
    to_controller_.cut(back + 10ms);
    to_client_.cut(back + 10ms);
    for (auto& [uuid, engine] : engines_) {
      engine->to.cut(back + 10ms);
      engine->from.cut(back + 10ms);
    }
    world_.at(back, [this] { start_controller(); });
  }
  void start_controller() {
    std::set<EngineUuid> former;
    for (const auto& [uuid, engine] : engines_)
      if (engine->is_alive) former.insert(EngineUuid{uuid});
    world_.tell("a new controller starts");
    controller::Stocktaking stock;
    if (!has(Defect::no_stocktaking)) stock = {former, world_.now() + stock_patience};
    controller_ = std::make_unique<Controller>(world_, setting_, std::move(stock));
    for (Engine* engine : living()) register_engine(*engine, world_.between(10, 3000));
    world_.after(world_.between(10, 1500), [this, known = controller_.get()] {
      if (controller_.get() == known) meet_new_controller();
    });
    look_later();
  }

  // ---------------------------------------------------------------- what must hold
  void check_always() {
    for (auto& [id, task] : submitted_)
      if (task.answers > 1) {
        world_.violate(id + " was answered twice");
        task.answers = 1;
      }
  }
  void check_at_rest() {
    for (const auto& [id, task] : submitted_)
      if (task.answers == 0) world_.violate(id + " was never answered");
    if (!controller_) return world_.violate("there is no controller");
    if (controller_->queue.size() > 0 || !controller_->waiting.empty())
      world_.violate("tasks are left in the controller");
    if (pending_.unanswered() > 0) world_.violate("the client still waits");
    for (const Engine* engine : living())
      if (!engine->queue.empty()) world_.violate("tasks are left in " + engine->uuid);
  }

  Setting setting_;
  World world_;
  Link to_controller_, to_client_;
  client::Pending pending_;
  std::map<std::string, Submitted> submitted_;
  std::unique_ptr<Controller> controller_;                  // null while there is none
  std::map<std::string, std::unique_ptr<Engine>> engines_;  // the dead ones too
  int engine_count_ = 0, controllers_ = 1, deaths_ = 0, cuts_ = 0, recalls_ = 0;
};

}  // namespace

Outcome simulate(const Setting& setting) {
  return Cluster{setting}.run();
}

}  // namespace px::simulation
