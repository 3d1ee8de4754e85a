#include "tests/simulation/simulated_cluster.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "client/requests/call.hpp"
#include "client/requests/pending.hpp"
#include "engine/kept_replies.hpp"
#include "tests/simulation/harmed_cluster.hpp"
#include "tests/simulation/simulated_controller.hpp"
#include "wire/text.hpp"

namespace px::simulation {
namespace {

using namespace std::chrono_literals;
using controller::JournalMode;

struct Client {
  Client(World& world, std::string its_name) : name(std::move(its_name)), to(world), from(world) {}
  std::string name;
  bool is_there = true;
  client::PendingRequests pending;
  Link to, from;  // the controller's messages, and its own
};

struct Engine {
  Engine(World& world, std::string its_uuid) : uuid(std::move(its_uuid)), to(world), from(world) {}
  controller::WorldPlace place;
  std::string uuid;
  bool is_alive = true;
  bool gives_back = true;
  std::set<std::string> came;  // the signatures
  engine::KeptReplies kept;
  struct Given {
    Request request;
    int controller;  // which one of all has given it
  };
  std::deque<Given> queue;  // the first one runs
  Link to, from;            // the controller's messages, and its own
};

/// A task, as somebody sees it who sees all.
struct Task {
  Client* client = nullptr;
  std::shared_ptr<client::Call> call;
  Request request;
  int answers = 0;  // that the client took
  int runs = 0;
  const Engine* holder = nullptr;  // it runs there, or was done there without an error
  bool is_accepted = false;
  bool has_result = false;     // on an engine
  std::optional<bool> told;    // what the controller has answered
  bool is_unwritten = false;  // its answer was not written, as the disk failed
  bool is_unknown_who_ran = false;  // the same of the engine that was given it
};

/// One attempt at a task of several ranks. A rank that fails may leave others waiting for it.
struct GangAttempt {
  std::set<std::string> begun, done;  // its engines; without an error
  bool has_failed = false;
};

class Cluster final : public Surroundings, private HarmedCluster {
 public:
  explicit Cluster(const Setting& setting) : HarmedCluster(setting) {}

  Outcome run() {
    for (int i = 1; i <= setting_.clients; ++i) add_client("client" + std::to_string(i));
    controller_ = make_controller({});
    for (int i = 0; i < setting_.engines; ++i) add_engine();
    for (int i = 0; i < setting_.tasks; ++i)
      world_.after(world_.between(0, 4000), [this] { submit(); });
    for (int i = 0; i < setting_.faults; ++i)
      world_.after(world_.between(10, 20000), [this] { do_harm(); });
    if (setting_.gangs > 0) world_.after(60s, [this] { add_world(); });
    return run_to_rest();
  }

  // What the controller does.
  void give(const EngineUuid& uuid, const Request& request, bool is_resent) override {
    const auto found = engines_.find(uuid.text);
    if (found == engines_.end()) return;
    Engine& engine = *found->second;
    world_.tell("controller gives " + request.id + " to " + uuid.text +
                (is_resent ? " once more" : ""));
    engine.to.send([this, &engine, request] { take_task(engine, request); });
  }
  void recall(const EngineUuid& uuid, const Request& request) override {
    const auto found = engines_.find(uuid.text);
    if (found == engines_.end()) return;
    Engine& engine = *found->second;
    world_.tell("controller recalls " + request.id + " from " + uuid.text);
    ++outcome_.recalls;
    engine.to.send([this, &engine, request] { take_recall(engine, request); });
  }
  void interrupt(const EngineUuid& uuid, const std::string& id) override {
    const auto found = engines_.find(uuid.text);
    if (found == engines_.end()) return;
    Engine& engine = *found->second;
    world_.tell("controller interrupts " + id + " on " + uuid.text);
    ++outcome_.interrupts;
    engine.to.send([this, &engine, id] { take_interrupt(engine, id); });
  }
  void answer(const Answer& answer) override {
    Task& task = tasks_[answer.id];
    if (task.is_accepted) task.told = answer.is_ok;  // else it is refused, and may be sent again
    Client& client = *task.client;
    client.to.send([this, &client, answer] { take_answer(client, answer); });
  }
  void accepted(const Request& request) override { tasks_[request.id].is_accepted = true; }
  void waits(std::size_t count) override {
    world_.tell(std::to_string(count) + " tasks wait behind a full queue");
    outcome_.waited += static_cast<int>(count);
  }
  /// Without a journal a new controller does not know what has ended.
  void dependency_unknown(const Request& request) override {
    std::set<std::string> seen;
    if (disk_ && !needs_unknown(request, seen))
      world_.violate(request.id + " is refused, though its dependencies are known");
  }
  void answered_unwritten(const std::string& id) override {
    world_.tell("controller answers " + id + ", and the disk does not take it");
    tasks_[id].is_unwritten = true;
  }

 private:
  static constexpr Duration stock_patience = 5s;
  static constexpr int engines_of_world = 3;

  // ---------------------------------------------------------------- the clients
  void add_client(const std::string& name) {
    clients_.push_back(std::make_unique<Client>(world_, name));
    if (setting_.journal == JournalMode::off || world_.pick(0, 1) == 0) return;
    world_.after(world_.between(500, 20000), [this, &client = *clients_.back()] { leave(client); });
  }
  void leave(Client& client) {
    world_.tell(client.name + " leaves, and waits for " +
                std::to_string(client.pending.unanswered()) + " tasks no longer");
    if (client.pending.unanswered() > 0) ++outcome_.left;
    client.is_there = false;
    client.to.end();
  }
  std::vector<Client*> present_clients() {
    std::vector<Client*> all;
    for (const auto& client : clients_)
      if (client->is_there) all.push_back(client.get());
    return all;
  }

  void submit() {
    const std::vector<Client*> all = present_clients();
    if (all.empty()) return;
    Client& client = any_of(all);
    const std::string id = "t" + std::to_string(tasks_.size() + 1);
    Task& task = tasks_[id];
    task.client = &client;
    task.request = {id, "signed " + id, client.name, world_.pick(0, 2)};
    if (happens(setting_.gangs)) task.request.ranks = static_cast<std::size_t>(world_.pick(2, 3));
    if (happens(setting_.dependents)) task.request.after = some_unanswered(client);
    task.call = std::make_shared<client::Call>(
        std::vector<client::TaskSent>{client::TaskSent{MessageId{id}, std::nullopt, {}, {}, {}}});
    task.call->on_answer([&task](std::size_t) { ++task.answers; });
    auto sent = std::make_shared<client::SentRequest>(
        client::SentRequest{tasks_.size(), client::RequestChannel::balanced, {id}});
    client.pending.add(MessageId{id}, {.call = task.call,
                                       .task = 0,
                                       .engine = {},
                                       .output_end = client::OutputEnd::none,
                                       .sent = sent,
                                       .channel = client::RequestChannel::balanced});
    world_.tell(client.name + " submits " + id + " with " + std::to_string(task.request.retries) +
                " retries" +
                (task.request.after.empty() ? "" : " after " + join(task.request.after, " and ")));
    send(client, task.request);
  }
  /// Whether the disk did not take the answer to one of its dependencies, or of theirs, or its
  /// client has left before it could send it again.
  bool needs_unknown(const Request& request, std::set<std::string>& seen) {
    return std::any_of(request.after.begin(), request.after.end(), [&](const std::string& id) {
      if (!seen.insert(id).second) return false;
      const Task& task = tasks_[id];
      const bool is_lost = !task.is_accepted && !task.client->is_there;
      return task.is_unwritten || is_lost || needs_unknown(task.request, seen);
    });
  }
  bool happens(int percent) { return percent > 0 && world_.pick(1, 100) <= percent; }
  /// At most two of the client's tasks.
  std::vector<std::string> some_unanswered(const Client& client) {
    std::vector<std::string> all;
    for (const auto& [id, task] : tasks_)
      if (task.client == &client && task.call && task.answers == 0) all.push_back(id);
    while (all.size() > 2)
      all.erase(all.begin() + world_.pick(0, static_cast<int>(all.size()) - 1));
    return all;
  }
  void send(Client& client, const Request& request) {
    client.from.send([this, request] { controller_->take_request(request); });
  }
  void take_answer(Client& client, const Answer& answer) {
    const auto status = answer.is_ok ? client::TaskStatus::ok : client::TaskStatus::error;
    const bool is_first = client.pending.answer({MessageId{answer.id}, status, {}, ""}, {}, {});
    world_.tell(client.name + " gets " + answer.id + (answer.is_ok ? "" : " as an error") +
                (is_first ? "" : ", which it has already"));
    if (!is_first && has(Defect::client_takes_any_reply)) ++tasks_[answer.id].answers;
  }
  void send_again(Client& client, const client::PendingRequests::Unanswered& unanswered,
                  const std::string& why) {
    world_.tell(client.name + " sends " + std::to_string(unanswered.to_send.size()) +
                " tasks again, as " + why);
    for (const auto& request : unanswered.to_send) send(client, tasks_[request->frames[0]].request);
  }
  void meet_new_controller(Client& client) {
    if (!client.is_there) return;
    const client::PendingRequests::Unanswered unanswered = client.pending.begin_again();
    if (!unanswered.lost.empty()) world_.violate("a task cannot be sent again");
    if (!has(Defect::client_forgets)) send_again(client, unanswered, "the controller is a new one");
  }

  // ---------------------------------------------------------------- the controller
  std::unique_ptr<SimulatedController> make_controller(controller::Stocktaking stock) {
    return std::make_unique<SimulatedController>(world_, setting_, std::move(stock), disk_, *this);
  }
  bool has_controller() const override { return controller_ != nullptr; }
  void end_controller() override {
    for (auto& [id, task] : tasks_)
      if (controller_ && !controller_->has_written_assignment(id)) task.is_unknown_who_ran = true;
    controller_.reset();
  }
  void cut_all(Instant up) override {
    for (const auto& client : clients_) cut(*client, up);
    for (auto& [uuid, engine] : engines_) cut(*engine, up);
  }
  template <class Peer>
  void cut(Peer& peer, Instant up) {
    peer.to.cut(up);
    peer.from.cut(up);
  }
  void start_controller() override {
    restores_engines_ = world_.pick(0, 1) == 1;
    world_.tell(std::string("a new controller starts, and ") +
                (restores_engines_ ? "knows" : "does not know") + " its engines");
    controller::Stocktaking stock;
    if (!has(Defect::no_stocktaking)) stock = {table_, world_.now() + stock_patience};
    controller_ = make_controller(std::move(stock));
    take_over_engines();
    controller_->restore();
    for (Engine* engine : living()) register_engine(*engine, world_.between(10, 3000));
    for (const auto& client : clients_)
      later(10, 1500, [this, &client = *client] { meet_new_controller(client); });
  }
  /// Those of the table on the disk; some of them have died meanwhile.
  void take_over_engines() {
    members_.clear();
    if (!restores_engines_) return;
    members_ = table_;
    for (const EngineUuid& uuid : table_) {
      controller_->engine_joined(uuid, false);  // what it can do is said when it registers
      if (!engines_.at(uuid.text)->is_alive) later(3000, 6000, [this, uuid] { lose_engine(uuid); });
    }
  }

  // ---------------------------------------------------------------- the engines
  void add_engine() override {
    const std::string uuid = "engine" + std::to_string(++engine_count_);
    Engine& engine = *(engines_[uuid] = std::make_unique<Engine>(world_, uuid));
    engine.gives_back = engine_count_ % 4 != 0;  // as those of ipyparallel
    engine.place = {"world" + std::to_string((engine_count_ - 1) / engines_of_world),
                    (engine_count_ - 1) % engines_of_world, "host"};
    register_engine(engine, world_.between(50, 400));
  }
  /// Tasks of several ranks wait for one where the others have lost engines.
  void add_world() {
    while (engine_count_ % engines_of_world != 0) ++engine_count_;
    for (int i = 0; i < engines_of_world; ++i) add_engine();
  }
  /// It tells who it is, and what it has in hand.
  void register_engine(Engine& engine, Duration delay) {
    const int ms = static_cast<int>(delay / 1ms);
    later(ms, ms, [this, &engine] {
      if (!engine.is_alive) return;
      const EngineUuid uuid{engine.uuid};
      world_.tell(engine.uuid + " joins");
      table_.insert(uuid);
      if (setting_.gangs > 0) controller_->engine_placed(uuid, engine.place);
      if (members_.insert(uuid).second) controller_->engine_joined(uuid, engine.gives_back);
      controller_->engine_holds(
          uuid, {engine.kept.held_by(0), engine.kept.unanswered_by(0), held_ranks(engine)},
          engine.gives_back);
    });
  }
  static std::vector<controller::HeldGang> held_ranks(const Engine& engine) {
    std::vector<controller::HeldGang> ranks;
    for (const engine::KeptReplies::KeptReply* each : engine.kept.ranks_held_by(0)) {
      controller::HeldGang& gang = ranks.emplace_back();
      gang.msg_id = each->msg_id.text;
      gang.repetition = each->repetition;
      for (const std::string_view uuid : split(each->gang, ','))
        gang.seats.engines.push_back(EngineUuid{std::string(uuid)});
    }
    return ranks;
  }
  void lose_engine(const EngineUuid& uuid) {
    table_.erase(uuid);
    if (members_.erase(uuid) > 0) controller_->engine_left(uuid);
  }
  void take_task(Engine& engine, const Request& request) {
    if (!engine.is_alive) return;
    const MessageId msg_id{request.id};
    const bool is_repeat = !engine.came.insert(request.signature).second;
    const engine::KeptReplies::KeptReply* known =
        engine.kept.find_attempt({request.signature, msg_id, request.repetition, is_repeat});
    if (known && !has(Defect::engine_runs_again)) {
      if (known->is_given_back) return give_back(engine, request);
      if (known->is_answered)
        reply(engine, {request.id, request.client, known->reply.at(0) == "ok", known->repetition});
      return;
    }
    engine.kept.arrived(request.signature, msg_id, 0, request.repetition, join(request.gang, ","));
    engine.queue.push_back({request, outcome_.controllers});
    const auto given = std::count_if(engine.queue.begin(), engine.queue.end(), [this](auto& each) {
      return each.controller == outcome_.controllers;
    });
    const std::size_t most = setting_.hwm + (engine.gives_back ? setting_.ahead : 0);
    if (setting_.hwm > 0 && static_cast<std::size_t>(given) > most)
      world_.violate(engine.uuid + " was given " + std::to_string(given) + " tasks at a time");
    if (engine.queue.size() == 1) begin(engine);
  }
  /// The first one of the queue runs.
  void take_recall(Engine& engine, const Request& recall) {
    if (!engine.is_alive) return;
    const auto waiting =
        std::find_if(engine.queue.begin(), engine.queue.end(),
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
      controller_->take_back(uuid, request, is_ending);
    });
  }
  void begin(Engine& engine) {
    const Request request = engine.queue.front().request;
    Task& task = tasks_[request.id];
    for (const std::string& id : task.request.after)
      if (!tasks_[id].has_result)
        world_.violate(request.id + " runs before " + id + " has a result");
    if (!task.request.after.empty()) ++outcome_.dependent_runs;
    if (!request.gang.empty()) return begin_rank(engine, request, task);
    check_run(task, engine);
    ++task.runs;
    task.holder = &engine;
    const bool is_ok = world_.pick(0, 9) > 0;
    world_.after(world_.between(5, 900), [this, &engine, request, is_ok] {
      if (!engine.is_alive) return;
      engine.queue.pop_front();
      Task& ended = tasks_[request.id];
      if (!is_ok && ended.holder == &engine) ended.holder = nullptr;
      if (is_ok) ended.has_result = true;
      finish(engine, request, is_ok);
      if (!engine.queue.empty()) begin(engine);
    });
  }
  void finish(Engine& engine, const Request& request, bool is_ok) {
    world_.tell(engine.uuid + " has done " + request.id + (is_ok ? "" : ", which fails"));
    engine.kept.answered(request.signature, {is_ok ? "ok" : "error"});
    reply(engine, {request.id, request.client, is_ok, request.repetition});
  }
  /// The ranks of a task begin one after another, meet, and end at different times.
  void begin_rank(Engine& engine, const Request& request, Task& task) {
    GangAttempt& attempt = attempt_of(request);
    if (attempt.begun.empty()) {
      check_run(task, engine);
      ++task.runs;
      ++outcome_.gang_runs;
    }
    if (!attempt.begun.insert(engine.uuid).second)
      return world_.violate(engine.uuid + " begins a rank of " + request.id + " twice");
    world_.tell(engine.uuid + " begins its rank of " + request.id);
    if (attempt.begun.size() < request.gang.size()) return;
    for (const std::string& uuid : request.gang) {
      Engine& each = *engines_.at(uuid);
      const bool is_ok = world_.pick(0, 9) > 0;
      world_.after(world_.between(5, 900),
                   [this, &each, request, is_ok] { end_rank(each, request, is_ok); });
    }
  }
  GangAttempt& attempt_of(const Request& request) {
    return attempts_[request.signature + " on " + join(request.gang, ",")];
  }
  void end_rank(Engine& engine, const Request& request, bool is_ok) {
    if (!engine.is_alive || !runs(engine, request.signature)) return;
    GangAttempt& attempt = attempt_of(request);
    for (const std::string& uuid : request.gang)
      if (!engines_.at(uuid)->is_alive && !attempt.done.contains(uuid)) attempt.has_failed = true;
    if (attempt.has_failed && world_.pick(0, 1) == 1) return;  // it waits for the failed rank
    end_rank_now(engine, is_ok);
  }
  bool runs(const Engine& engine, const std::string& signature) const {
    return !engine.queue.empty() && engine.queue.front().request.signature == signature;
  }
  void end_rank_now(Engine& engine, bool is_ok) {
    const Request request = engine.queue.front().request;
    engine.queue.pop_front();
    GangAttempt& attempt = attempt_of(request);
    if (!is_ok)
      attempt.has_failed = true;
    else if (attempt.done.insert(engine.uuid); attempt.done.size() == request.gang.size())
      tasks_[request.id].has_result = true;
    finish(engine, request, is_ok);
    if (!engine.queue.empty()) begin(engine);
  }
  void take_interrupt(Engine& engine, const std::string& id) {
    if (!engine.is_alive) return;
    std::vector<Request> stopped;
    for (const Engine::Given& each : engine.queue)
      if (!each.request.gang.empty() && each.request.id == id) stopped.push_back(each.request);
    for (const Request& request : stopped) {
      if (runs(engine, request.signature)) {
        end_rank_now(engine, false);
        continue;
      }
      std::erase_if(engine.queue, [&request](const Engine::Given& each) {
        return each.request.signature == request.signature;
      });
      attempt_of(request).has_failed = true;
      finish(engine, request, false);
    }
  }
  void reply(Engine& engine, const Answer& answer) {
    engine.from.send(
        [this, uuid = engine.uuid, answer] { controller_->take_reply(uuid, answer); });
  }

  // ---------------------------------------------------------------- harm
  void do_harm() {
    if (disk_ && world_.pick(0, 2) == 0) return harm_disk();
    const int what = world_.pick(0, 12);
    if (what > 11) return add_engine_or_wait();
    if (what > 9) return cut_client();
    if (what < 5) return cut_engine();
    if (what < 6) return kill_engine();
    if (what < 7) return end_engine();
    if (controller_) kill_controller();
  }
  void disk_failed() override {}
  void end_engines() override {
    for (Engine* engine : living()) end(*engine);
  }
  std::vector<Engine*> living() {
    std::vector<Engine*> all;
    for (auto& [uuid, engine] : engines_)
      if (engine->is_alive) all.push_back(engine.get());
    return all;
  }
  Instant end_of_gap(const std::string& name) {
    return world_.now() + begin_gap("the connection of " + name);
  }
  /// An event of this controller a moment after the gap.
  template <class Event>
  void after_gap(Instant end, Event event) {
    const int ms = static_cast<int>((end - world_.now()) / 1ms);
    later(ms + 1, ms + 50, std::move(event));
  }
  void cut_engine() {
    if (!controller_ || living().empty()) return;
    Engine& engine = any_of(living());
    const Instant end = end_of_gap(engine.uuid);
    cut(engine, end);
    if (has(Defect::no_reconnection)) return;
    after_gap(end, [this, &engine] {
      if (!engine.is_alive) return;
      world_.tell(engine.uuid + " is connected again");
      controller_->engine_reconnected(EngineUuid{engine.uuid});
    });
  }
  void cut_client() {
    if (!controller_ || present_clients().empty()) return;
    Client& client = any_of(present_clients());
    const Instant end = end_of_gap(client.name);
    cut(client, end);
    if (has(Defect::client_waits_on)) return;
    after_gap(end, [this, &client] {
      if (client.is_there)
        send_again(client, client.pending.begin_again_by({client::RequestChannel::balanced}),
                   "its connection broke");
    });
  }
  void kill_engine() {
    if (living().empty()) return;
    Engine& engine = any_of(living());
    end(engine);
    notice_end(engine);
  }
  /// As it is asked to: what it has not begun it gives back, what runs is interrupted.
  void end_engine() {
    if (living().empty()) return;
    Engine& engine = any_of(living());
    while (engine.gives_back && engine.queue.size() > 1) {
      const Request last = engine.queue.back().request;
      engine.queue.pop_back();
      engine.kept.given_back(last.signature);
      give_back(engine, last, true);
    }
    end(engine, "ends");
    notice_end(engine);
  }
  void notice_end(const Engine& engine) {
    if (has(Defect::deaths_go_unnoticed)) return;
    later(250, 250, [this, uuid = EngineUuid{engine.uuid}] { lose_engine(uuid); });
  }
  void end(Engine& engine, const std::string& how = "dies") {
    ++outcome_.deaths;
    world_.tell(engine.uuid + " " + how);
    engine.is_alive = false;
    engine.to.end();
    if (how == "dies") engine.from.end();
    world_.after(world_.between(500, 3000), [this] { add_engine_or_wait(); });
  }

  // ---------------------------------------------------------------- what must hold
  void check_run(const Task& task, const Engine& engine) {
    const std::string& id = task.request.id;
    const bool may_repeat = task.request.retries > 0;
    if (!may_repeat && task.holder && task.holder->is_alive)
      return world_.violate(id + " runs on " + engine.uuid + " though " + task.holder->uuid +
                            " has it");
    if (!disk_) return;
    if (task.told && !task.is_unwritten)
      return world_.violate(id + " runs on " + engine.uuid + " though it was answered");
    if (!may_repeat && task.runs > 0 && !task.is_unknown_who_ran)
      world_.violate(id + " runs again on " + engine.uuid + " though it has no retries");
  }
  void check_always() override {
    for (auto& [id, task] : tasks_)
      if (task.answers > 1) {
        world_.violate(id + " was answered twice");
        task.answers = 1;
      }
  }
  void check_at_rest() override {
    for (const auto& [id, task] : tasks_) {
      if (task.client->is_there && task.answers == 0) world_.violate(id + " was never answered");
      if (disk_ && task.is_accepted) check_record(task);
    }
    if (!controller_->is_at_rest()) world_.violate("tasks are left in the controller");
    for (const Client* client : present_clients())
      if (client->pending.unanswered() > 0) world_.violate(client->name + " still waits");
    for (const Engine* engine : living())
      if (!engine->queue.empty()) world_.violate("tasks are left in " + engine->uuid);
  }
  void check_record(const Task& task) {
    const std::string& id = task.request.id;
    const std::optional<bool> result = controller_->result_of(id);
    if (!result && !task.is_unwritten)
      return world_.violate(id + " was accepted, and there is no result of it");
    if (result && task.told && !task.is_unwritten && *result != *task.told)
      return world_.violate("the result of " + id + " is not the one that its client was sent");
    if (result && !task.client->is_there && task.answers == 0) ++outcome_.fetched;
  }

  std::vector<std::unique_ptr<Client>> clients_;
  std::map<std::string, Task> tasks_;
  std::map<std::string, GangAttempt> attempts_;             // by the signature and the engines
  std::unique_ptr<SimulatedController> controller_;         // null while there is none
  std::map<std::string, std::unique_ptr<Engine>> engines_;  // the dead ones too
  std::set<EngineUuid> members_;    // of this controller
  std::set<EngineUuid> table_;      // in its file, where those of the one before stay for a while
  bool restores_engines_ = false;
  int engine_count_ = 0;
};

}  // namespace

Outcome simulate(const Setting& setting) {
  return Cluster{setting}.run();
}

}  // namespace px::simulation
