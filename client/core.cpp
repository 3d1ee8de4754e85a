#include "client/core.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "client/transfers/shipping.hpp"
#include "wire/time.hpp"

namespace px::client {

std::shared_ptr<ClientCore> ClientCore::make(std::unique_ptr<Connection> connection) {
  return {new ClientCore(std::move(connection)), [](ClientCore* core) {
            if (!core->is_of_this_process()) return;  // its thread is not here
            // The I/O thread ends only after its handler: another one waits for that.
            if (core->connection().is_own_thread())
              std::thread([core] { delete core; }).detach();
            else
              delete core;
          }};
}

std::vector<EngineId> ClientCore::resolve(const Targets& targets) const {
  check_open();
  const std::vector<EngineId> present = connection_->engines()->ids();
  if (present.empty()) check_up();
  return value_or_throw(targets.resolve(present));
}

std::shared_ptr<Call> ClientCore::send_direct(const std::vector<EngineId>& ids,
                                              const RequestBody& body, const Json& label) {
  check_open();
  const std::shared_ptr<const EngineDirectory> engines = connection_->engines();
  std::optional<RequestBody> placed;
  std::vector<Addressed> all;
  std::vector<EngineId> elsewhere;
  for (const EngineId id : ids) {
    const bool is_placed = connection_->shares_memory(body.buffers, uuid_of(id, *engines));
    if (is_placed && !placed) placed = in_shared_memory(body);
    if (!is_placed) elsewhere.push_back(id);
    all.push_back({id, is_placed ? *placed : body});
  }
  if (const auto shipped = shipped_to(elsewhere, body, *engines); !shipped.empty())
    for (auto& [id, sent] : all)
      if (const auto found = shipped.find(engines->memory_of(id));
          found != shipped.end() && !sent.hold)
        sent = found->second;
  return post_direct(all, *engines, label, together_of(body, ids));
}

std::shared_ptr<Call> ClientCore::send_direct(const std::vector<Addressed>& all,
                                              const Json& label) {
  check_open();
  const std::shared_ptr<const EngineDirectory> engines = connection_->engines();
  std::vector<Addressed> placed;
  for (const auto& [id, body] : all) {
    const bool is_placed = connection_->shares_memory(body.buffers, uuid_of(id, *engines));
    const auto shipped =
        is_placed ? std::map<std::string, RequestBody>{} : shipped_to({id}, body, *engines);
    const RequestBody& other = shipped.empty() ? body : shipped.begin()->second;
    placed.push_back({id, is_placed ? in_shared_memory(body) : other});
  }
  return post_direct(placed, *engines, label, nullptr);
}

std::shared_ptr<Call> ClientCore::post_direct(const std::vector<Addressed>& all,
                                              const EngineDirectory& engines, const Json& label,
                                              const Json& together) {
  const std::string metadata =
      os::with_fetching(direct_metadata(label, together), connection_->is_far());
  std::vector<OutgoingRequest> messages;
  std::vector<TaskSent> tasks;
  for (const auto& [id, body] : all) {
    const EngineUuid uuid = uuid_of(id, engines);
    check_understood(body, {id}, engines.engines_of_ipyparallel());
    auto composed = connection_->composer().compose(uuid.text, body, metadata);
    tasks.push_back({composed.msg_id, id, uuid, composed.submitted, label});
    messages.push_back({RequestChannel::direct,
                        uuid,
                        std::move(composed.head),
                        std::move(composed.buffers),
                        std::move(composed.hold),
                        {},
                        body.shipment});
  }
  return post(std::move(messages), std::move(tasks),
              all.empty() ? OutputEnd::none : all.front().body.output_end);
}

std::shared_ptr<Call> ClientCore::send_balanced(const std::vector<RequestBody>& all,
                                                const TaskOptions& wanted) {
  check_open();
  if (!wanted.ranks.is_null() && !connection_->takes_gangs())
    throw ClientError(ErrorKind::unsupported,
                      "this controller gives each task to one engine: use a controller of this "
                      "version, with a --scheme other than pure and none");
  const TaskOptions options = understood(all, wanted);
  const std::string metadata = balanced_metadata(options);
  std::vector<OutgoingRequest> messages;
  std::vector<TaskSent> tasks;
  const std::shared_ptr<const EngineDirectory> engines = connection_->engines();
  for (const RequestBody& body : all) {
    const bool is_placed =
        connection_->places_tasks() && all_share_memory(body, engines->ids(), *engines);
    auto composed =
        connection_->composer().compose("", is_placed ? in_shared_memory(body) : body, metadata);
    tasks.push_back({composed.msg_id, std::nullopt, {}, composed.submitted, options.label});
    messages.push_back({RequestChannel::balanced,
                        {},
                        std::move(composed.head),
                        std::move(composed.buffers),
                        std::move(composed.hold),
                        {}});
  }
  return post(std::move(messages), std::move(tasks),
              all.empty() ? OutputEnd::none : all.front().output_end);
}

std::shared_ptr<Call> ClientCore::send_broadcast(const std::vector<EngineId>& ids,
                                                 const RequestBody& body, const Json& label) {
  check_open();
  const std::shared_ptr<const EngineDirectory> engines = connection_->engines();
  check_understood(body, ids, engines->engines_of_ipyparallel());
  const Json together = together_of(body, ids);
  std::vector<OutgoingRequest> messages;
  std::map<EngineId, std::pair<TaskSent, std::size_t>> sent;  // and the message that it is in
  for (const auto& [part, receivers] : broadcast_parts(ids, body, *engines)) {
    std::vector<std::pair<EngineUuid, EngineId>> targets;
    for (const EngineId id : receivers) targets.emplace_back(uuid_of(id, *engines), id);
    const std::string metadata =
        os::with_fetching(broadcast_metadata(targets, label, together), connection_->is_far());
    auto composed = connection_->composer().compose("", part, metadata);
    for (const auto& [uuid, id] : targets) {  // the controller gives each copy this name
      const MessageId copy{composed.msg_id.text + "_" + uuid.text};
      TaskSent task{copy, id, uuid, composed.submitted, label};
      sent.emplace(id, std::pair(std::move(task), messages.size()));
    }
    messages.push_back({RequestChannel::broadcast,
                        {},
                        std::move(composed.head),
                        std::move(composed.buffers),
                        std::move(composed.hold),
                        {},
                        part.shipment});
  }
  std::vector<TaskSent> tasks;
  std::vector<std::size_t> places;
  for (const EngineId id : ids) {
    auto& [task, place] = sent.at(id);
    tasks.push_back(task);
    places.push_back(place);
  }
  return post(std::move(messages), std::move(tasks), body.output_end, places);
}

/// One message for all, or, where large buffers go to other hosts, one for each memory: they name
/// them differently.
std::vector<std::pair<RequestBody, std::vector<EngineId>>> ClientCore::broadcast_parts(
    const std::vector<EngineId>& ids, const RequestBody& body, const EngineDirectory& engines) {
  std::vector<EngineId> here, elsewhere;
  for (const EngineId id : ids)
    (connection_->shares_memory(body.buffers, uuid_of(id, engines)) ? here : elsewhere)
        .push_back(id);
  if (elsewhere.empty()) return {{in_shared_memory(body), ids}};
  auto shipped = shipped_to(elsewhere, body, engines);
  if (shipped.empty()) return {{body, ids}};
  std::vector<std::pair<RequestBody, std::vector<EngineId>>> parts;
  if (!here.empty()) parts.emplace_back(in_shared_memory(body), std::move(here));
  std::map<std::string, std::vector<EngineId>> by_memory;  // empty: they share none
  for (const EngineId id : elsewhere) by_memory[engines.memory_of(id)].push_back(id);
  for (auto& [memory, receivers] : by_memory) {
    const auto found = shipped.find(memory);
    parts.emplace_back(found == shipped.end() ? body : std::move(found->second),
                       std::move(receivers));
  }
  return parts;
}

std::shared_ptr<Call> ClientCore::send_control(const std::vector<EngineId>& ids,
                                               const std::string& type, const Json& content) {
  check_open();
  const std::shared_ptr<const EngineDirectory> engines = connection_->engines();
  const OutputEnd end = type == "shutdown_request" ? OutputEnd::by_leave : OutputEnd::none;
  const RequestBody body{type, pack(Packer::json, content), {}, end};
  std::vector<OutgoingRequest> messages;
  std::vector<TaskSent> tasks;
  for (const EngineId id : ids) {
    const EngineUuid uuid = uuid_of(id, *engines);
    auto composed = connection_->composer().compose(uuid.text, body, "{}");
    tasks.push_back({composed.msg_id, id, uuid, composed.submitted, {}});
    messages.push_back({RequestChannel::control, uuid, std::move(composed.head), {}, {}, {}});
  }
  return post(std::move(messages), std::move(tasks), end);
}

std::shared_ptr<Call> ClientCore::send_hub(const std::string& type, const Json& content) {
  check_open();
  const RequestBody body{type, pack(Packer::json, content), {}, OutputEnd::none};
  auto composed = connection_->composer().compose("", body, "{}");
  std::vector<TaskSent> tasks{{composed.msg_id, std::nullopt, {}, composed.submitted, {}}};
  std::vector<OutgoingRequest> messages;
  messages.push_back({RequestChannel::hub, {}, std::move(composed.head), {}, {}, {}});
  return post(std::move(messages), std::move(tasks), OutputEnd::none);
}

Reply ClientCore::ask_hub(const std::string& type, const Json& content, Duration timeout) {
  const auto call = send_hub(type, content);
  if (!call->wait_ready(Clock::now() + timeout))
    throw TimeoutError("the controller did not answer a " + type + " within " +
                       format_duration(timeout) + "; it may be overloaded");
  TaskInfo info = call->info(0);
  if (info.failure) throw RemoteError(*info.failure);
  return info.reply;
}

/// The work with its large buffers in shared memory; as it is where that has no room.
RequestBody ClientCore::in_shared_memory(const RequestBody& body) {
  std::optional<os::PlacedBuffers> placed = connection_->place(body.buffers);
  if (!placed) return body;
  return {body.type,
          body.content,
          std::move(placed->buffers),
          body.output_end,
          std::move(placed->indexes),
          std::move(placed->hold)};
}

std::map<std::string, RequestBody> ClientCore::shipped_to(const std::vector<EngineId>& ids,
                                                          const RequestBody& body,
                                                          const EngineDirectory& engines) const {
  if (!connection_->ships() || body.buffers.empty()) return {};
  return ship(body, ids, engines);
}

bool ClientCore::all_share_memory(const RequestBody& body, const std::vector<EngineId>& ids,
                                  const EngineDirectory& engines) const {
  return std::all_of(ids.begin(), ids.end(), [&](EngineId id) {
    const auto uuid = engines.uuid_of(id);
    return uuid && connection_->shares_memory(body.buffers, *uuid);
  });
}

/// Null for a single engine and for work that is no cell.
Json ClientCore::together_of(const RequestBody& body, const std::vector<EngineId>& ids) {
  if (body.type != "execute_request" || ids.size() < 2) return nullptr;
  const std::string& session = connection_->composer().session_id().text;
  return together(session + "_cell_" + std::to_string(++cells_), ids);
}

EngineUuid ClientCore::uuid_of(EngineId id, const EngineDirectory& engines) {
  if (const auto uuid = engines.uuid_of(id)) return *uuid;
  // Says it in the words of Targets, which name the engines that are there.
  value_or_throw(Targets::ids({id}).resolve(engines.ids()));
  throw ClientError(ErrorKind::not_found, "there is no engine " + std::to_string(id.value));
}

/// Engines of ipyparallel would never answer what they do not know.
void ClientCore::check_understood(const RequestBody& body, const std::vector<EngineId>& ids,
                                  const std::vector<EngineId>& of_ipyparallel) {
  if (of_ipyparallel.empty() || !is_native(body)) return;
  std::vector<EngineId> strangers;
  for (const EngineId id : ids)
    if (std::binary_search(of_ipyparallel.begin(), of_ipyparallel.end(), id))
      strangers.push_back(id);
  if (strangers.empty()) return;
  const bool is_one = strangers.size() == 1;
  throw ClientError(ErrorKind::unsupported,
                    std::string(is_one ? "engine " : "engines ") + name_engines(strangers) +
                        (is_one ? " runs" : " run") +
                        " ipyparallel's ipengine, which can only execute cells of this client: "
                        "use execute, or start engines with `pxcluster engines`");
}

/// Leaves engines of ipyparallel out of those that may get the tasks, where there are others.
TaskOptions ClientCore::understood(const std::vector<RequestBody>& all, TaskOptions options) const {
  const std::shared_ptr<const EngineDirectory> engines = connection_->engines();
  const std::vector<EngineId>& of_ipyparallel = engines->engines_of_ipyparallel();
  if (of_ipyparallel.empty() || all.empty() || !is_native(all.front())) return options;
  std::vector<EngineId> candidates;
  for (const EngineId id : engines->ids())
    if (options.targets.empty() || std::find(options.targets.begin(), options.targets.end(),
                                             *engines->uuid_of(id)) != options.targets.end())
      candidates.push_back(id);
  std::vector<EngineUuid> targets;
  for (const EngineId id : candidates)
    if (!std::binary_search(of_ipyparallel.begin(), of_ipyparallel.end(), id))
      targets.push_back(*engines->uuid_of(id));
  if (targets.empty()) check_understood(all.front(), candidates, of_ipyparallel);
  if (!targets.empty()) options.targets = std::move(targets);
  return options;
}

/// places  for each task the message that it is in; empty: each message is one task.
std::shared_ptr<Call> ClientCore::post(std::vector<OutgoingRequest> messages,
                                       std::vector<TaskSent> tasks, OutputEnd output_end,
                                       const std::vector<std::size_t>& places) {
  std::vector<PendingRequests::PendingRequest> entries;
  std::vector<MessageId> ids;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ids.push_back(tasks[i].msg_id);
    entries.push_back({nullptr, i, tasks[i].engine_uuid, output_end});
  }
  const auto call = std::make_shared<Call>(std::move(tasks), connection_->outbox(),
                                           connection_->help());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].call = call;
    OutgoingRequest& message = messages[places.empty() ? i : places[i]];
    message.entries.emplace_back(std::move(ids[i]), std::move(entries[i]));
  }
  connection_->post(std::move(messages));
  return call;
}

void ClientCore::check_open() const {
  process_.check();
  if (const auto why = connection_->why_closed()) throw ClientError(ErrorKind::lost_peer, *why);
}

void ClientCore::check_up() const {
  check_open();
  if (!connection_->is_up())
    throw ClientError(ErrorKind::lost_peer,
                      "the controller at " + connection_->interface() +
                          " cannot be reached, so no engine is known: check with `pxcluster list` "
                          "that the cluster is running");
}

Json numbers_of(const std::vector<EngineId>& ids) {
  Json numbers = Json::array();
  for (const EngineId id : ids) numbers.push_back(id.value);
  return numbers;
}

}  // namespace px::client
