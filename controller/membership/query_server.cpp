#include "controller/membership/query_server.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <csignal>
#include <memory>
#include <set>
#include <utility>

#include "os/descriptor_limit.hpp"
#include "program/program.hpp"
#include "wire/checked_json.hpp"
#include "wire/header.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

/// An engine id beyond this cannot be meant.
constexpr int max_engine_id = 1 << 30;
/// Nor can a longer name of a language.
constexpr std::size_t max_language_size = 32;
/// Nor a longer reason for the end of engines.
constexpr std::size_t max_reason_size = 255;
/// Nor a longer path.
constexpr std::size_t max_path_size = 4096;
/// So many parents of dead ranks are told when the controller shuts down; the others end later.
constexpr std::size_t max_waiting_parents = 4096;
/// So long a pxcluster that scales its engines may be silent.
constexpr Duration scale_patience = std::chrono::seconds(10);
/// So many clients are known to have been let in.
constexpr std::size_t most_clients = 1 << 16;

Json for_clients() {
  return error_content("PermissionError",
                       "this port is for engines: a client needs the connection file of clients "
                       "(ipcontroller-client.json)");
}

}  // namespace

QueryServer::QueryServer(RelayContext& shared, Membership& membership, DaskScheduler& dask,
                         ClientLink& clients, net::Socket& engine_socket, Json connection_info,
                         Duration heartbeat_period, DescriptorPlan descriptors)
    : shared_(shared),
      membership_(membership),
      dask_(dask),
      client_link_(clients),
      engine_socket_(engine_socket),
      connection_info_(std::move(connection_info)),
      heartbeat_period_(heartbeat_period),
      descriptors_(descriptors),
      versions_(program::program_version()) {}

void QueryServer::receive_from_clients() {
  receive(client_link_.socket(), "registration");
}
void QueryServer::receive_from_engines() {
  receive(engine_socket_, "registration of engines");
}

void QueryServer::receive(net::Socket& socket, const char* channel) {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = socket.receive();
    if (!frames) return;
    const auto envelope = shared_.open(*frames, 1, channel);
    if (!envelope) continue;
    const Result<Header> header = read_header(shared_.packer(), envelope->header);
    // Many engines that say every few seconds what they do would push all else out of the history.
    const bool is_measure =
        &socket == &engine_socket_ && header && header->msg_type == engine_measures_type;
    if (!is_measure && !history_.is_new(envelope->signature)) {
      shared_.bad_messages.add("registration: a message that arrived twice");
      continue;
    }
    const Result<Json> content = unpack(shared_.packer(), envelope->content);
    if (!header) {
      shared_.bad_messages.add("registration: a malformed message", header.error().what);
      continue;
    }
    Request request{&socket, std::string(frames->at(0)), header->msg_type,
                    std::string(envelope->header), content ? *content : Json::object()};
    if (!content) {
      shared_.bad_messages.add("registration: a malformed message", content.error().what);
      reply(request, "hub_error", error_content("ValueError", content.error().what));
      continue;
    }
    if (&socket == &engine_socket_)
      handle_engine(request);
    else
      handle(std::move(request));
  }
}

void QueryServer::handle_engine(const Request& request) {
  const std::string& type = request.msg_type;
  if (type == "registration_request") return register_engine(request);
  if (type == "unregistration_request") return unregister_engine(request);
  if (type == "engine_facts") return learn_facts(request);
  if (type == engine_measures_type) return take_measures(request);
  if (type == "engine_reconnected") return note_reconnection(request);
  if (type == "engine_ended") return take_death_report(request);
  if (type == engine_terminating_type) return membership_.terminates(EngineUuid{request.client});
  if (type == "world_request") return count_world(request);
  if (type == "connection_request") return answer_search(request);
  shared_.bad_messages.add("registration of engines: a request that only clients may send", type);
  reply(request, "hub_error", for_clients());
}

/// An engine asks so for who is there; that there is an answer, and room for it, is all that it may
/// know.
void QueryServer::answer_search(const Request& request) {
  if (!is_refused(request, "an engine", DescriptorPlan::of_engine, "connection_reply"))
    reply(request, "connection_reply", for_clients());
}

void QueryServer::handle(Request request) {
  const std::string& type = request.msg_type;
  if (type == "registration_request") return register_engine(request);
  if (type == "unregistration_request") return unregister_engine(request);
  if (type == "engine_ended") return take_death_report(request);
  if (type == "engines_ending") return expect_ends(request);
  if (type == "engines_draining") return drain_engines(request);
  if (type == "cluster_event") return note_event(request);
  if (type == "cluster_scaled") return note_scale(request);
  if (type == "checkpoint_written") return note_checkpoint(request);
  if (type == "connection_request") return connect_client(request);
  if (type == "shutdown_request") return shut_down(request);
  if (type == "become_dask_request") return become_dask(std::move(request));
  if (type == "stop_distributed_request") return stop_dask(request);
  shared_.hub.post(HubQuery{std::move(request.client), std::move(request.msg_type),
                            std::move(request.header), std::move(request.content)});
}

void QueryServer::reply(const Request& request, std::string_view msg_type, Json content) {
  Draft draft{{request.client}, std::string(msg_type), request.header,
              Json::object(),   std::move(content),    {}};
  std::vector<std::string> frames = shared_.session.compose(draft, wall_now());
  if (request.socket == &engine_socket_)
    engine_socket_.send(frames);
  else
    send(std::make_shared<TextFrames>(std::move(frames)));
}

bool QueryServer::is_refused(const Request& request, std::string_view who, std::size_t takes,
                             std::string_view msg_type) {
  const std::size_t left = os::free_descriptors(takes + descriptors_.kept());
  const auto why = descriptors_.why_not(who, takes, left);
  if (!why) return false;
  spdlog::warn("refused: {}", *why);
  reply(request, msg_type, error_content(out_of_descriptors, *why));
  return true;
}

void QueryServer::send(const SharedFrames& answer) {
  client_link_.reply(std::array{answer->at(0)}, answer, 1, Clock::now());
}

void QueryServer::register_engine(const Request& request) {
  const auto uuid = string_member(request.content, "uuid");
  if (!uuid || uuid->empty() || uuid->size() > 255)
    return shared_.bad_messages.add("registration: an engine without a uuid");
  std::optional<EngineId> wanted;
  if (const auto id = request.content.find("id"); id != request.content.end() && !id->is_null()) {
    const auto number = integer_member<int>(request.content, "id");
    if (!number || *number < 0 || *number > max_engine_id)
      return reply(request, "hub_error",
                   error_content("ValueError", "the requested engine id is not a number >= 0"));
    wanted = EngineId{*number};
  }
  const bool is_again =
      bool_member(request.content, "again").value_or(false) && wanted && request.client == *uuid;
  if (!is_again &&
      is_refused(request, "an engine", DescriptorPlan::of_engine, "registration_reply"))
    return;
  std::string language = string_member(request.content, "language").value_or("");
  if (language.size() > max_language_size) language.clear();
  const auto id =
      is_again ? membership_.request_again(EngineUuid{*uuid}, *wanted, Clock::now(), language)
               : membership_.request(EngineUuid{*uuid}, wanted, Clock::now(), language);
  if (!id) {
    spdlog::error("registration::{}", id.error().what);
    return reply(request, "registration_reply",
                 error_content("KeyError", "\"" + id.error().what + "\""));
  }
  spdlog::debug("registration::register_engine({}, '{}')", id->value, *uuid);
  welcome_engine(request, *id, EngineUuid{*uuid});
  if (!is_again || !holds_listener_) return;
  holds_listener_(EngineUuid{*uuid}, read_held_tasks(request.content));
}

void QueryServer::welcome_engine(const Request& request, EngineId id, const EngineUuid& uuid) {
  learn_facts(id, uuid, request.content);
  if (bool_member(request.content, "gangs").value_or(false)) gang_engines_.insert(uuid);
  const auto period = std::chrono::duration<double, std::milli>(heartbeat_period_).count();
  reply(request, "registration_reply",
        Json{{"id", id.value},
             {"status", "ok"},
             {"hb_period", static_cast<long long>(period)},
             {"polyxeus", program::program_version()},
             {"recalls", true},
             {"measures", true},
             {"terminating", true},
             {"connection_info", connection_info_}});
}

void QueryServer::learn_facts(const Request& request) {
  const EngineUuid uuid{request.client};
  const auto id = membership_.table().id_of(uuid);
  if (!id)
    return shared_.bad_messages.add("registration of engines: engine_facts of an unknown engine");
  learn_facts(*id, uuid, request.content);
}

void QueryServer::learn_facts(EngineId id, const EngineUuid& uuid, const Json& content) {
  auto facts = std::make_shared<const EngineFacts>(read_engine_facts(content));
  versions_.learn(id, uuid, *facts);
  for (const std::string& warning : versions_.take_news()) spdlog::warn("{}", warning);
  shared_.hub.post(EngineDescribed{uuid, std::move(facts)});
}

void QueryServer::take_measures(const Request& request) {
  const EngineUuid uuid{request.client};
  if (!membership_.table().is_registered(uuid.text)) return;  // a moment too early, or too late
  auto measures = std::make_shared<const EngineMeasures>(read_engine_measures(request.content));
  if (measures->process.memory) membership_.measured(uuid, *measures->process.memory);
  shared_.hub.post(EngineMeasured{uuid, std::move(measures)});
}

void QueryServer::note_reconnection(const Request& request) {
  const EngineUuid uuid{request.client};
  const std::string channel = string_member(request.content, "channel").value_or("");
  if (channel != "task") membership_.reconnected(uuid);
  if (reconnected_listener_) reconnected_listener_(uuid, channel);
}

void QueryServer::unregister_engine(const Request& request) {
  const auto id = integer_member<int>(request.content, "id");
  const bool is_id = id && *id >= 0 && *id <= max_engine_id;
  if (is_id && int_member(request.content, "signal") == SIGTERM)
    membership_.terminated(EngineId{*id});
  else if (is_id)
    membership_.leave(EngineId{*id}, "it was unregistered on request");
  else  // an engine that gave up before it knew its id
    membership_.leave(EngineUuid{request.client}, "it cancelled its registration");
}

void QueryServer::take_death_report(const Request& request) {
  const auto report = read_death_report(request.content);
  if (!report)
    return shared_.bad_messages.add("registration: an engine_ended that names no engine");
  membership_.reported(*report);
}

void QueryServer::expect_ends(const Request& request) {
  const std::string set = string_member(request.content, "engine_set").value_or("");
  if (set.empty())
    return shared_.bad_messages.add("registration: an engines_ending that names no engine set");
  const std::string why =
      string_member(request.content, "why").value_or("").substr(0, max_reason_size);
  shared_.events.ends_announced(set, why, shared_.event_time());
  membership_.expect_ends(set, why, bool_member(request.content, "for_good").value_or(false));
}

/// Engines that are not registered are ignored. There is no answer: whatever the client asks
/// afterwards is answered when it is done.
void QueryServer::drain_engines(const Request& request) {
  const auto places = strings_member(request.content, "places");
  if (!places)
    return shared_.bad_messages.add("registration: an engines_draining that names no engines");
  const bool is_drained = bool_member(request.content, "is_drained").value_or(true);
  const std::set<std::string> meant(places->begin(), places->end());
  std::vector<EngineUuid> engines;
  for (const auto& [id, uuid] : membership_.table().engines())
    if (meant.contains(versions_.facts_of(uuid).set_member)) engines.push_back(uuid);
  if (drain_listener_)
    for (const EngineUuid& uuid : engines) drain_listener_(uuid, is_drained);
}

/// For the event log.
void QueryServer::note_event(const Request& request) {
  const std::string kind = string_member(request.content, "kind").value_or("");
  if (kind != "scaled" && kind != "respawned")
    return shared_.bad_messages.add("registration: a cluster_event of an unknown kind");
  shared_.events.supervised(
      kind, string_member(request.content, "text").value_or("").substr(0, max_reason_size),
      shared_.event_time());
}

/// pxcluster repeats the maximum while it runs. An old one does not count, because that pxcluster
/// may have ended.
void QueryServer::note_scale(const Request& request) {
  scale_maximum_ = integer_member<int>(request.content, "maximum").value_or(0);
  scale_noted_ = Clock::now();
}

void QueryServer::note_checkpoint(const Request& request) {
  const std::string path = string_member(request.content, "path").value_or("");
  if (path.empty() || path.size() > max_path_size)
    return shared_.bad_messages.add("registration: a checkpoint_written without a path");
  membership_.checkpoint_written(path);
  reply(request, "checkpoint_reply", Json{{"status", "ok"}});
}

void QueryServer::count_world(const Request& request) {
  const std::string world = read_engine_facts(request.content).world;
  if (world.empty())
    return shared_.bad_messages.add("registration of engines: a world_request without a world");
  const int living = is_shutdown_requested_ ? 0 : membership_.living_in(world);
  reply(request, "world_reply", Json{{"living", living}});
  if (living == 0)
    waiting_parents_.erase(request.client);
  else if (waiting_parents_.size() < max_waiting_parents)
    waiting_parents_.insert_or_assign(request.client, request);
}

void QueryServer::ask_to_register(const EngineUuid& uuid) {
  engine_socket_.send(shared_.session.compose(
      Draft{{uuid.text}, "register_again", "{}", Json::object(), Json::object(), {}}, wall_now()));
}

void QueryServer::tell_broken(const EngineUuid& uuid, const std::string& sentence) {
  engine_socket_.send(shared_.session.compose(
      Draft{{uuid.text}, "world_broken", "{}", Json::object(), Json{{"why", sentence}}, {}},
      wall_now()));
}

Json QueryServer::describe(const EngineUuid& uuid, const EngineFacts& facts) const {
  Json content = Json::object();
  write_engine_facts(content, facts);
  if (const Duration silence = membership_.silence_of(uuid); silence > Duration{})
    content["silent_for"] = std::chrono::duration<double>(silence).count();
  if (std::string broken = membership_.broken_world_of(uuid); !broken.empty())
    content["world_broken"] = std::move(broken);
  return content;
}

Json QueryServer::describe_lost() const {
  Json lost = Json::object();
  for (const auto& [id, engine] : membership_.lost()) {
    Json& content = lost[std::to_string(id.value)] = Json::object();
    write_engine_facts(content, engine.facts);
    content["why"] = engine.why;
    content["seconds"] = std::chrono::duration<double>(Clock::now() - engine.since).count();
  }
  return lost;
}

/// One that was let in, or that only looks at the engines, takes no further connections.
void QueryServer::connect_client(const Request& request) {
  Json engines = Json::object(), languages = Json::object(), pythons = Json::object(),
       memories = Json::object(), passing = Json::object(), described = Json::object();
  const auto wish = request.content.find("facts");
  const bool wants_facts = wish != request.content.end() && *wish == true;
  if (!wants_facts && !clients_.contains(request.client)) {
    if (is_refused(request, "a client", DescriptorPlan::of_client, "connection_reply")) return;
    if (clients_.size() == most_clients) clients_.clear();  // who is still there is asked again
    clients_.insert(request.client);
  }
  for (const auto& [id, uuid] : membership_.table().engines()) {
    const std::string key = std::to_string(id.value);
    engines[key] = uuid.text;
    languages[key] = membership_.table().language_of(uuid);
    const EngineFacts facts = versions_.facts_of(uuid);
    if (!facts.python.empty()) pythons[key] = facts.python;
    if (!facts.memory.empty()) memories[key] = facts.memory;
    if (!facts.passing.empty()) passing[key] = facts.passing;
    if (wants_facts) described[key] = describe(uuid, facts);
  }
  Json content{
      {"status", "ok"}, {"engines", std::move(engines)}, {"languages", std::move(languages)}};
  content["incarnation"] = incarnation_;
  if (takes_gangs_) content["gangs"] = true;
  if (returns_) content["controller"] = incarnation_;
  if (scale_maximum_ > 0 && Clock::now() < scale_noted_ + scale_patience)
    content["scale"] = {{"maximum", scale_maximum_}};
  if (!pythons.empty()) content["pythons"] = std::move(pythons);
  if (!memories.empty()) content["memories"] = std::move(memories);
  if (!passing.empty()) content["passing"] = std::move(passing);
  if (wants_facts) {
    content["facts"] = std::move(described);
    content["lost"] = describe_lost();
    if (!membership_.last_checkpoint().empty())
      content["last_checkpoint"] = membership_.last_checkpoint();
  }
  std::vector<std::string> warnings = versions_.warnings();
  if (warning_source_)
    for (std::string& warning : warning_source_()) warnings.push_back(std::move(warning));
  if (!warnings.empty()) content["warnings"] = std::move(warnings);
  reply(request, "connection_reply", std::move(content));
}

void QueryServer::shut_down(const Request& request) {
  spdlog::info("hub::shutdown: requested by a client");
  reply(request, "shutdown_reply", Json{{"status", "ok"}});
  membership_.notify("shutdown_notification", Json{{"status", "ok"}}, request.header);
  for (const auto& [client, question] : waiting_parents_)
    reply(question, "world_reply", Json{{"living", 0}});
  is_shutdown_requested_ = true;
}

void QueryServer::become_dask(Request request) {
  waiting_for_dask_.push_back(std::move(request));
  dask_.start(Clock::now());
  on_dask(Clock::now());
}

void QueryServer::on_dask(Instant now) {
  if (waiting_for_dask_.empty()) return;
  const std::optional<Result<DaskAddress>> news = dask_.poll(now);
  if (!news) return;
  for (const Request& request : std::exchange(waiting_for_dask_, {})) {
    if (*news)
      reply(request, "become_dask_reply",
            Json{{"status", "ok"},
                 {"ip", (*news)->ip},
                 {"address", (*news)->address},
                 {"port", (*news)->port}});
    else
      reply(request, "become_dask_reply", error_content("RuntimeError", news->error().what));
  }
}

void QueryServer::stop_dask(const Request& request) {
  dask_.stop();
  reply(request, "stop_distributed_reply", Json{{"status", "ok"}});
}

}  // namespace px::controller
