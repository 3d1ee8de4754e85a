#include "tests/simulation/call_cluster.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "client/reconnect/broken_links.hpp"
#include "client/requests/call.hpp"
#include "client/requests/pending.hpp"
#include "engine/kept_replies.hpp"
#include "tests/simulation/call_controller.hpp"
#include "tests/simulation/harmed_cluster.hpp"
#include "wire/header.hpp"
#include "wire/json_scan.hpp"

namespace px::simulation {
namespace {

using namespace std::chrono_literals;
using client::LinkKind;
using client::RequestChannel;
using controller::JournalMode;

constexpr std::array channels{CallChannel::mux, CallChannel::broadcast};

CallChannel channel_of(RequestChannel channel) {
  return channel == RequestChannel::direct ? CallChannel::mux : CallChannel::broadcast;
}

/// A connection, both its directions.
struct Wire {
  explicit Wire(World& world) : to(world), from(world) {}
  Link to, from;  // the controller's messages, and those to it
  void cut(Instant up) {
    to.cut(up);
    from.cut(up);
  }
};

struct Peer {
  Peer(World& world, std::string its_name)
      : name(std::move(its_name)), mux(world), broadcast(world), news(world) {}
  std::string name;
  Wire mux, broadcast;
  Wire news;  // a client's notifications, an engine's output
  Wire& by(CallChannel channel) { return channel == CallChannel::mux ? mux : broadcast; }
  std::array<Wire*, 3> wires() { return {&mux, &broadcast, &news}; }
};

constexpr std::array links_of_clients{LinkKind::direct, LinkKind::broadcast, LinkKind::news};

struct Client : Peer {
  Client(World& world, const std::string& its_name, Session its_session)
      : Peer(world, its_name), session(std::move(its_session)) {
    for (const LinkKind kind : links_of_clients) links.connected(kind);
  }
  Wire& by(LinkKind kind) {
    if (kind == LinkKind::news) return news;
    return kind == LinkKind::direct ? mux : broadcast;
  }
  using Peer::by;
  Session session;
  bool is_there = true;
  bool is_foreign = false;  // one of ipyparallel: it sends nothing again, the controller gathers
  client::PendingRequests pending;
  client::BrokenLinks links;
  client::ReturningEngines returning;
  std::set<EngineUuid> engines;  // that it knows
  int controller = 1;            // which one of all controllers it knows
};

struct Engine : Peer {
  Engine(World& world, const std::string& its_uuid, Session its_session)
      : Peer(world, its_uuid), session(std::move(its_session)) {}
  Session session;
  bool is_alive = true;
  engine::KeptReplies kept;
  struct Given {
    CallChannel channel;
    SharedFrames request;
    std::string msg_id;
  };
  std::deque<Given> queue;  // the first one runs
};

/// What one engine is asked for, as somebody sees it who sees all.
struct Task {
  Client* client = nullptr;
  EngineUuid engine;
  std::string gathered;  // the msg_id of the whole; empty: it is answered by itself
  std::shared_ptr<client::Call> call;
  RequestChannel channel = RequestChannel::direct;
  std::uint64_t number = 0;   // in the order of submission
  std::optional<int> breaks;  // on its way until it was submitted; nothing: it was not open then
  int answers = 0;            // that the client took
  int runs = 0;
  bool is_accepted = false, is_unwritten = false;
  std::string told;     // the status that the client was sent
  int replied_to = 0;   // which one of all controllers had its reply first
  std::string heard;    // what it had printed by then, and this controller heard
  std::string printed;  // what has to be in the records
};
/// A gathered broadcast.
struct Gathered {
  std::vector<std::string> parts;
  int answers = 0;  // that a controller sent
  /// All was written, and the controller died before it sent the answer.
  bool is_answer_lost = false;
};

class CallCluster final : public CallSurroundings, private HarmedCluster {
 public:
  explicit CallCluster(const Setting& setting) : HarmedCluster(setting) {}

  Outcome run() {
    for (int i = 1; i <= setting_.clients; ++i) add_client("client" + std::to_string(i));
    controller_ = make_controller();
    for (int i = 0; i < setting_.engines; ++i) add_engine();
    for (int i = 0; i < setting_.tasks; ++i)
      world_.after(world_.between(300, 5000), [this] { submit(); });
    for (int i = 0; i < setting_.faults; ++i)
      world_.after(world_.between(10, 20000), [this] { do_harm(); });
    return run_to_rest();
  }

  // What the controller does.
  void ask(const EngineUuid& uuid, CallChannel channel, const SharedFrames& request) override {
    const std::string id = id_in(*request, 2, false);
    tasks_[id].is_accepted = true;
    Engine& engine = *engines_.at(uuid.text);
    // As EngineLink does: it holds what cannot be sent, and answers in the engine's place when that
    // has not come after a while.
    if (!engine.is_alive && !controller_->members().contains(uuid))
      return later(30'000, 30'000,
                   [this, channel, request] { controller_->undelivered(channel, request); });
    world_.tell("controller asks " + uuid.text + " for " + id);
    engine.by(channel).to.send(
        [this, &engine, channel, request] { take_call(engine, channel, request); });
  }
  void answer(CallChannel channel, const SharedFrames& reply) override {
    const std::string id = id_in(*reply, 1, true);
    if (Gathered* gathered = gathered_of(*reply))
      ++gathered->answers;
    else if (error_in(*reply) != "ResultLost")  // that it has an answer already
      tasks_[id].told = status_in(*reply);
    for (const auto& client : clients_) {
      if (client->name != reply->at(0) || client->by(channel).to.up() > world_.now()) continue;
      client->by(channel).to.send(
          [this, &client = *client, reply] { take_answer(client, *reply); });
    }
  }
  void unwritten(const std::string& id) override {
    if (!tasks_[id].is_unwritten) world_.tell("the disk does not take what is told of " + id);
    tasks_[id].is_unwritten = true;
  }
  void written(const std::string& id) override {
    Task& task = tasks_[id];
    task.printed += std::exchange(task.heard, {});
  }

 private:
  Session session(const std::string& name) const {
    return {SessionId{name}, "user", Packer::json, *Signer::create("hmac-sha256", "key")};
  }
  /// As Session::compose(), but for the msg_id: it has no process id in it, so that a seed has one
  /// story.
  std::vector<std::string> compose(Session& session, const Draft& draft) {
    Header header = session.make_header(draft.msg_type, world_.wall());
    header.msg_id.text = session.id().text + "_" + std::to_string(++message_count_);
    std::vector<std::string> frames = draft.idents;
    for (std::string& frame :
         session.seal(write_header(Packer::json, header), draft.parent_header,
                      pack(Packer::json, draft.metadata), pack(Packer::json, draft.content)))
      frames.push_back(std::move(frame));
    return frames;
  }
  static std::string id_in(const Frames& frames, std::size_t idents, bool is_reply) {
    const Envelope envelope = *Envelope::locate(frames, idents);
    return read_msg_id(Packer::json, is_reply ? envelope.parent_header : envelope.header).text;
  }
  static std::string status_in(const Frames& reply) {
    return packed_text(Packer::json, Envelope::locate(reply, 1)->content, "status").value_or("");
  }
  static std::string error_in(const Frames& reply) {
    return packed_text(Packer::json, Envelope::locate(reply, 1)->content, "ename").value_or("");
  }
  Gathered* gathered_of(const Frames& reply) {
    const Envelope envelope = *Envelope::locate(reply, 1);
    const auto id = packed_text(Packer::json, envelope.metadata, "original_msg_id");
    const auto found = id ? gathered_.find(*id) : gathered_.end();
    return found == gathered_.end() ? nullptr : &found->second;
  }

  // ---------------------------------------------------------------- the clients
  void add_client(const std::string& name) {
    clients_.push_back(std::make_unique<Client>(world_, name, session(name)));
    clients_.back()->is_foreign = clients_.size() % 3 == 0;
    if (setting_.journal == JournalMode::off || world_.pick(0, 1) == 0) return;
    world_.after(world_.between(500, 20000), [this, &client = *clients_.back()] { leave(client); });
  }
  void leave(Client& client) {
    world_.tell(client.name + " leaves");
    if (client.pending.unanswered() > 0) ++outcome_.left;
    client.is_there = false;
    for (Wire* wire : client.wires()) wire->to.end();
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
    std::vector<EngineUuid> engines{client.engines.begin(), client.engines.end()};
    if (engines.empty()) return;
    const bool is_broadcast = world_.pick(0, 1) == 0;
    if (is_broadcast) return broadcast(client, engines);
    call(client, engines[static_cast<std::size_t>(
                     world_.pick(0, static_cast<int>(engines.size()) - 1))]);
  }
  void call(Client& client, const EngineUuid& engine) {
    auto frames = compose(client.session, {{client.name, engine.text}, "execute_request"});
    const std::string id = id_in(TextFrames{frames}, 2, false);
    world_.tell(client.name + " asks " + engine.text + " for " + id);
    auto sent = std::make_shared<client::SentRequest>(
        client::SentRequest{++sent_count_, RequestChannel::direct, std::move(frames)});
    add_task(client, id, engine, sent);
    send(client, *sent);
  }
  void broadcast(Client& client, const std::vector<EngineUuid>& engines) {
    Json targets = Json::array();
    for (const EngineUuid& engine : engines) targets.push_back({engine.text, id_of(engine).value});
    const Json metadata{{"targets", targets}, {"is_coalescing", client.is_foreign}};
    auto frames =
        compose(client.session, {{client.name}, "execute_request", "{}", metadata});
    const std::string id = id_in(TextFrames{frames}, 1, false);
    world_.tell(client.name + " asks " + std::to_string(engines.size()) + " engines for " + id +
                (client.is_foreign ? ", to be gathered" : ""));
    auto sent = std::make_shared<client::SentRequest>(
        client::SentRequest{++sent_count_, RequestChannel::broadcast, std::move(frames)});
    for (const EngineUuid& engine : engines) {
      const std::string part = id + "_" + engine.text;
      if (client.is_foreign) {
        gathered_[id].parts.push_back(part);
        tasks_[part].gathered = id;
      }
      add_task(client, part, engine, sent);
    }
    send(client, *sent);
  }
  void add_task(Client& client, const std::string& id, const EngineUuid& engine,
                const std::shared_ptr<const client::SentRequest>& sent) {
    Task& task = tasks_[id];
    task.client = &client;
    task.engine = engine;
    task.channel = sent->channel;
    task.number = sent->number;
    if (is_way_open(task)) task.breaks = breaks_on_way(task);
    if (client.is_foreign) return;
    task.call = std::make_shared<client::Call>(
        std::vector<client::TaskSent>{client::TaskSent{MessageId{id}, std::nullopt, {}, {}, {}}});
    task.call->on_answer([&task](std::size_t) { ++task.answers; });
    client.pending.add(MessageId{id}, {.call = task.call,
                                       .task = 0,
                                       .engine = engine,
                                       .output_end = client::OutputEnd::none,
                                       .sent = sent,
                                       .channel = sent->channel});
  }
  void send(Client& client, const client::SentRequest& sent) {
    const CallChannel channel = channel_of(sent.channel);
    client.by(channel).from.send(
        [this, channel, frames = std::make_shared<TextFrames>(sent.frames)] {
          controller_->take_request(channel, frames);
        });
  }
  void take_answer(Client& client, const Frames& reply) {
    const std::string id = id_in(reply, 1, true);
    world_.tell(client.name + " gets " + id + ": " + status_in(reply));
    if (client.is_foreign) return;
    const bool is_ok = status_in(reply) == "ok";
    const bool is_first = client.pending.answer(
        {MessageId{id}, is_ok ? client::TaskStatus::ok : client::TaskStatus::error, {}, ""}, {},
        {});
    if (!is_first && has(Defect::client_takes_any_reply)) ++tasks_[id].answers;
    const std::string ran_on =
        packed_text(Packer::json, Envelope::locate(reply, 1)->content, "ran_on").value_or("");
    Task& task = tasks_[id];
    if (is_first && ran_on.empty() && engines_.at(task.engine.text)->is_alive)
      world_.violate(id + " fails though " + task.engine.text + " lives");
    if (!ran_on.empty() && ran_on != task.engine.text)
      world_.violate(id + " is answered by " + ran_on);
  }
  template <class Requests>
  void send_again(Client& client, const Requests& requests, const std::string& why) {
    if (requests.empty()) return;
    world_.tell(client.name + " sends " + std::to_string(requests.size()) + " calls again, as " +
                why);
    for (const auto& request : requests) send(client, *request);
  }
  /// The controller says which one it is, and which engines there are: as a Connection takes it.
  void hear_of_controller(Client& client) {
    if (!client.is_there) return;
    const std::set<EngineUuid> there = controller_->members();
    const std::set<EngineUuid> known = client.engines;
    client.engines.insert(there.begin(), there.end());
    if (std::exchange(client.controller, outcome_.controllers) != outcome_.controllers)
      return meet_new_controller(client);
    if (!client.returning.are_expected(world_.now()))
      for (const EngineUuid& engine : known)
        if (!there.contains(engine)) miss_engine(client, engine);
    const client::Breaks breaks = client.links.take();
    if (client.is_foreign || has(Defect::client_waits_on)) return;
    send_again(client, client.pending.begin_again_by(breaks.to_repeat()).to_send,
               "its connection broke");
  }
  void miss_engine(Client& client, const EngineUuid& engine) {
    if (client.engines.erase(engine) == 0) return;
    world_.tell(client.name + " hears that " + engine.text + " is gone");
    if (engines_.at(engine.text)->is_alive)
      world_.violate(client.name + " gives up " + engine.text + ", which lives");
    client.pending.lose_engine(engine, id_of(engine), {});
  }
  void meet_new_controller(Client& client) {
    client.links.controller_changed();
    client.returning.expect(world_.now());
    later(10'000, 10'000, [this, &client] { hear_of_controller(client); });
    if (client.is_foreign || has(Defect::client_forgets)) return;
    const client::PendingRequests::Unanswered unanswered = client.pending.begin_again();
    if (!unanswered.lost.empty()) world_.violate("a call cannot be sent again");
    send_again(client, unanswered.to_send, "the controller is a new one");
  }
  void links_broke(Client& client, const std::vector<LinkKind>& kinds, Duration gap) {
    for (const LinkKind kind : kinds) {
      client.links.disconnected(kind);
      client.by(kind).cut(world_.now() + gap);
    }
  }
  /// Those of these that stand.
  void links_return(Client& client, const std::vector<LinkKind>& kinds) {
    bool has_news = false;
    for (const LinkKind kind : kinds)
      if (client.by(kind).to.up() <= world_.now()) has_news |= client.links.connected(kind);
    if (has_news) hear_of_controller(client);
  }
  /// Of an engine that is there, once more or for the first time, or that is gone.
  void announce(const EngineUuid& engine, bool is_gone, bool returns) {
    for (const auto& each : clients_) {
      if (each->news.to.up() > world_.now()) continue;
      each->news.to.send([this, &client = *each, engine, is_gone, returns] {
        if (is_gone) return miss_engine(client, engine);
        client.engines.insert(engine);
        if (returns && !client.is_foreign && !has(Defect::no_reconnection))
          send_again(client, client.pending.begin_again_with(engine), engine.text + " is back");
      });
    }
  }

  // ---------------------------------------------------------------- the controller
  std::unique_ptr<CallController> make_controller() {
    return std::make_unique<CallController>(
        world_, setting_, session("controller" + std::to_string(outcome_.controllers)), disk_,
        *this);
  }
  bool has_controller() const override { return controller_ != nullptr; }
  void end_controller() override {
    for (auto& [id, task] : tasks_) task.heard.clear();
    may_keep_answers_ = is_writing_ || setting_.journal == JournalMode::power;
    controller_.reset();
  }
  void cut_all(Instant up) override {
    for (const auto& client : clients_) {
      links_broke(*client, {LinkKind::direct, LinkKind::broadcast}, up - world_.now());
      links_broke(*client, {LinkKind::news}, up - world_.now() + world_.between(0, 1000));
    }
    for (auto& [uuid, engine] : engines_)
      for (Wire* wire : engine->wires()) wire->cut(up);
  }
  void start_controller() override {
    const bool restores_engines = world_.pick(0, 1) == 1;
    world_.tell(std::string("a new controller starts, and ") +
                (restores_engines ? "knows" : "does not know") + " its engines");
    controller_ = make_controller();
    if (restores_engines)
      for (const EngineUuid& uuid : table_) {
        controller_->engine_joined(uuid);
        if (!engines_.at(uuid.text)->is_alive)
          later(3000, 6000, [this, uuid] { lose_engine(uuid); });
      }
    note_lost_answers(controller_->restore());
    for (Engine* engine : living()) register_engine(*engine, world_.between(10, 3000));
    for (const auto& client : clients_) {
      later(10, 1500, [this, &client = *client] { reach_controller(client); });
      const int ms = static_cast<int>((client->news.to.up() - world_.now()) / 1ms);
      later(ms + 1, ms + 50, [this, &client = *client] { links_return(client, {LinkKind::news}); });
    }
  }
  void reach_controller(Client& client) {
    client.links.connected(LinkKind::direct);
    client.links.connected(LinkKind::broadcast);
    hear_of_controller(client);
  }
  /// left  what the journal says
  void note_lost_answers(const std::vector<controller::LeftCall>& left) {
    if (!may_keep_answers_) return;
    std::set<std::string> ended, ended_by_death;
    for (const controller::LeftCall& call : left) {
      if (!call.is_open) ended.insert(call.msg_id.text);
      if (call.is_engine_gone) ended_by_death.insert(call.msg_id.text);
    }
    const auto is_in = [](const std::set<std::string>& all) {
      return [&all](const std::string& part) { return all.contains(part); };
    };
    for (auto& [id, whole] : gathered_)
      if (whole.answers == 0 &&
          (std::all_of(whole.parts.begin(), whole.parts.end(), is_in(ended)) ||
           std::any_of(whole.parts.begin(), whole.parts.end(), is_in(ended_by_death))))
        whole.is_answer_lost = true;
  }
  // ---------------------------------------------------------------- the engines
  void add_engine() override {
    const std::string uuid = "engine" + std::to_string(++engine_count_);
    Engine& engine = *(engines_[uuid] = std::make_unique<Engine>(world_, uuid, session(uuid)));
    register_engine(engine, world_.between(50, 400));
  }
  void register_engine(Engine& engine, Duration delay) {
    const int ms = static_cast<int>(delay / 1ms);
    later(ms, ms, [this, &engine] {
      if (!engine.is_alive) return;
      const EngineUuid uuid{engine.name};
      world_.tell(engine.name + " joins");
      const bool returns = !table_.insert(uuid).second;
      controller_->engine_joined(uuid);
      announce(uuid, false, returns);
    });
  }
  void lose_engine(const EngineUuid& uuid) {
    table_.erase(uuid);
    controller_->engine_left(uuid);
    announce(uuid, true, false);
  }
  void take_call(Engine& engine, CallChannel channel, const SharedFrames& request) {
    if (!engine.is_alive) return;
    const Envelope envelope = *Envelope::locate(*request, 2);
    const engine::KeptReplies::KeptReply* known = engine.kept.find(envelope.signature);
    if (known && !has(Defect::engine_runs_again)) {
      if (known->is_answered)
        reply(engine, channel, std::make_shared<TextFrames>(known->reply));
      return;
    }
    const std::string id = id_in(*request, 2, false);
    engine.kept.arrived(envelope.signature, MessageId{id}, static_cast<std::size_t>(channel));
    const bool is_overtaking = has(Defect::calls_are_overtaken) && engine.queue.size() > 1;
    engine.queue.insert(is_overtaking ? engine.queue.begin() + 1 : engine.queue.end(),
                        {channel, request, id});
    if (engine.queue.size() == 1) begin(engine);
  }
  void begin(Engine& engine) {
    const Engine::Given given = engine.queue.front();
    Task& task = tasks_[given.msg_id];
    if (++task.runs > 1) world_.violate(given.msg_id + " runs again on " + engine.name);
    check_order(given.msg_id, task);
    const int milliseconds = world_.pick(5, 900);
    if (world_.pick(0, 1) == 0)
      world_.after(std::chrono::milliseconds(milliseconds / 2),
                   [this, &engine, given] { print(engine, given, "early "); });
    world_.after(std::chrono::milliseconds(milliseconds), [this, &engine, given] {
      if (!engine.is_alive) return;
      engine.queue.pop_front();
      const bool is_ok = world_.pick(0, 9) > 0;
      world_.tell(engine.name + " has done " + given.msg_id + (is_ok ? "" : ", which fails"));
      if (world_.pick(0, 1) == 0) print(engine, given, "late ");
      const Envelope asked = *Envelope::locate(*given.request, 2);
      auto frames = compose(engine.session,
                            {{engine.name, std::string(given.request->at(0))},
                             "execute_reply",
                             std::string(asked.header),
                             metadata_for(asked, engine.name, is_ok),
                             {{"status", is_ok ? "ok" : "error"}, {"ran_on", engine.name}}});
      engine.kept.answered(asked.signature, frames);
      reply(engine, given.channel, std::make_shared<TextFrames>(std::move(frames)));
      if (!engine.queue.empty()) begin(engine);
    });
  }
  static Json metadata_for(const Envelope& asked, const std::string& engine, bool is_ok) {
    Json metadata{{"status", is_ok ? "ok" : "error"}, {"engine", engine}};
    const Json of_request = *unpack(Packer::json, asked.metadata);
    for (const char* key : {"is_coalescing", "original_msg_id"})
      if (of_request.contains(key)) metadata[key] = of_request[key];
    return metadata;
  }
  void print(Engine& engine, const Engine::Given& given, const std::string& text) {
    if (!engine.is_alive) return;
    const Envelope asked = *Envelope::locate(*given.request, 2);
    const auto output = std::make_shared<TextFrames>(
        compose(engine.session, {{"topic"},
                                 "stream",
                                 std::string(asked.header),
                                 Json::object(),
                                 {{"name", "stdout"}, {"text", text}}}));
    engine.news.from.send([this, output, id = given.msg_id, text] {
      controller_->take_output(output);
      note_printed(tasks_[id], text);
    });
  }
  void reply(Engine& engine, CallChannel channel, const SharedFrames& frames) {
    engine.by(channel).from.send([this, channel, frames] {
      controller_->take_reply(channel, frames);
      if (Task& task = tasks_[id_in(*frames, 2, true)]; task.replied_to == 0)
        task.replied_to = outcome_.controllers;
    });
  }

  // ---------------------------------------------------------------- harm
  void do_harm() {
    if (disk_ && world_.pick(0, 2) == 0) return harm_disk();
    const int what = world_.pick(0, 12);
    if (what > 11) return add_engine_or_wait();
    if (what > 9) return cut_client();
    if (what < 5) return cut_engine();
    if (what < 7) return kill_engine();
    if (controller_) kill_controller();
  }
  void disk_failed() override {
    for (auto& [id, task] : tasks_)
      if (task.told.empty()) task.is_unwritten = true;
  }
  void end_engines() override {
    for (Engine* engine : living()) end(*engine);
  }
  std::vector<Engine*> living() {
    std::vector<Engine*> all;
    for (auto& [uuid, engine] : engines_)
      if (engine->is_alive) all.push_back(engine.get());
    return all;
  }
  /// Happens when the gap is over, unless this controller has ended until then.
  template <class Event>
  void after_gap(Duration gap, Event event) {
    const int ms = static_cast<int>(gap / 1ms);
    later(ms + 1, ms + 50, std::move(event));
  }
  void cut_engine() {
    if (!controller_ || living().empty()) return;
    Engine& engine = any_of(living());
    const CallChannel channel = channels[static_cast<std::size_t>(world_.pick(0, 1))];
    const Duration gap = begin_gap("a connection of " + engine.name);
    engine.by(channel).cut(world_.now() + gap);
    after_gap(gap, [this, &engine, channel] {
      if (!engine.is_alive || has(Defect::no_reconnection)) return;
      world_.tell(engine.name + " is connected again");
      const EngineUuid uuid{engine.name};
      controller_->engine_reconnected(uuid, channel);
      if (controller_->members().contains(uuid)) announce(uuid, false, true);
    });
  }
  void cut_client() {
    if (!controller_ || present_clients().empty()) return;
    Client& client = any_of(present_clients());
    const int which = world_.pick(1, 7);
    std::vector<LinkKind> kinds;
    for (int i = 0; i < 3; ++i)
      if (which & (1 << i)) kinds.push_back(links_of_clients[static_cast<std::size_t>(i)]);
    const Duration gap = begin_gap("a connection of " + client.name);
    links_broke(client, kinds, gap);
    after_gap(gap, [this, &client, kinds] { links_return(client, kinds); });
  }
  void kill_engine() {
    if (living().empty()) return;
    Engine& engine = any_of(living());
    end(engine);
    if (has(Defect::deaths_go_unnoticed)) return;
    later(250, 250, [this, uuid = EngineUuid{engine.name}] { lose_engine(uuid); });
  }
  void end(Engine& engine) {
    ++outcome_.deaths;
    world_.tell(engine.name + " dies");
    engine.is_alive = false;
    for (Wire* wire : engine.wires()) {
      wire->to.end();
      wire->from.end();
    }
    world_.after(world_.between(500, 3000), [this] { add_engine_or_wait(); });
  }
  // ---------------------------------------------------------------- what must hold
  std::array<Wire*, 2> way_of(const Task& task) {
    const CallChannel channel = channel_of(task.channel);
    return {&task.client->by(channel), &engines_.at(task.engine.text)->by(channel)};
  }
  bool is_way_open(const Task& task) {
    return controller_ && controller_->members().contains(task.engine) &&
           std::ranges::all_of(way_of(task),
                               [this](Wire* wire) { return wire->to.up() <= world_.now(); });
  }
  int breaks_on_way(const Task& task) {
    int sum = 0;
    for (const Wire* wire : way_of(task)) sum += wire->to.breaks();
    return sum;
  }
  /// Calls of one client to one engine by one channel begin in the order in which they were
  /// submitted, unless their way was not open all the time.
  void check_order(const std::string& id, const Task& task) {
    for (const auto& [other_id, other] : tasks_)
      if (other.number < task.number && other.runs == 0 && other.client == task.client &&
          other.engine == task.engine && other.channel == task.channel && other.breaks &&
          other.breaks == breaks_on_way(other))
        world_.violate(id + " begins before " + other_id + ", which was submitted earlier");
  }
  /// It is written with the reply. What comes later is written at once, and nothing waits for that;
  /// a later controller does not follow the call.
  void note_printed(Task& task, const std::string& text) {
    if (task.replied_to == 0)
      task.heard += text;
    else if (task.replied_to == outcome_.controllers &&
             setting_.journal == JournalMode::process && !disk_->is_full())
      task.printed += text;
  }
  void check_always() override {
    for (auto& [id, task] : tasks_)
      if (task.answers > 1) {
        world_.violate(id + " was answered twice");
        task.answers = 1;
      }
  }
  void check_at_rest() override {
    if (const auto engine = controller_->awaited())
      world_.violate(engine->text + " is still awaited");
    for (const auto& [id, task] : tasks_) check_task(id, task);
    for (const auto& [id, whole] : gathered_) check_gathered(id, whole);
    if (disk_)
      if (const auto unrest = controller_->unrest()) world_.violate(*unrest);
    for (const Engine* engine : living())
      if (!engine->queue.empty()) world_.violate("calls are left in " + engine->name);
  }
  void check_task(const std::string& id, const Task& task) {
    if (task.client->is_there && !task.client->is_foreign && task.answers == 0)
      world_.violate(id + " was never answered");
    if (!disk_ || !task.is_accepted || task.is_unwritten) return;
    const auto record = controller_->record_of(id);
    if (!record) return world_.violate(id + " was passed on, and there is no result of it");
    if (!task.told.empty() && record->status != task.told)
      world_.violate("the result of " + id + " is not the one that its client was sent");
    if (record->output.find(task.printed) == std::string::npos)
      world_.violate("the records lack what " + id + " has printed");
    if (!task.client->is_there && task.answers == 0) ++outcome_.fetched;
  }
  void check_gathered(const std::string& id, const Gathered& whole) {
    const auto is_sure = [&](const std::string& part) {
      return tasks_[part].is_accepted && !tasks_[part].is_unwritten;
    };
    if (!disk_ || !std::all_of(whole.parts.begin(), whole.parts.end(), is_sure)) return;
    if (whole.answers > 1 || (whole.answers == 0 && !whole.is_answer_lost))
      world_.violate(id + " was gathered " + std::to_string(whole.answers) + " times");
  }

  std::vector<std::unique_ptr<Client>> clients_;
  std::map<std::string, Task> tasks_;
  std::map<std::string, Gathered> gathered_;
  std::unique_ptr<CallController> controller_;              // null while there is none
  std::map<std::string, std::unique_ptr<Engine>> engines_;  // the dead ones too
  std::set<EngineUuid> table_;  // in its file, where those of the one before stay for a while
  std::uint64_t sent_count_ = 0, message_count_ = 0;
  int engine_count_ = 0;
  bool may_keep_answers_ = false;  // the controller that died last: ones that it had written
};

}  // namespace

Outcome simulate_calls(const Setting& setting) {
  return CallCluster{setting}.run();
}

}  // namespace px::simulation
