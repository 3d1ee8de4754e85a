#include "client/client.hpp"

#include <thread>

#include "client/core.hpp"
#include "client/gang.hpp"
#include "client/hub_result.hpp"
#include "net/discovery/profile_paths.hpp"
#include "os/private_file.hpp"
#include "wire/checked_json.hpp"
#include "wire/counted.hpp"
#include "wire/time.hpp"

namespace px::client {
namespace {

using namespace std::chrono_literals;

constexpr Duration hub_patience = 60s;

std::string connection_file(const ClientOptions& options) {
  if (!options.file.empty()) return options.file;
  const net::ProfileChoice choice{options.profile, options.profile_dir, options.ipython_dir,
                                  options.cluster_id.value_or(""), options.cluster_id.has_value()};
  return value_or_throw(net::find_profile(choice)).client_file().string();
}

/// The file's text; waits for it where the caller has the patience.
std::string read_connection_file(const std::string& path, Duration patience) {
  const Instant deadline = Clock::now() + patience;
  for (;;) {
    const Result<std::string> text = os::read_private_file(path);
    if (text) return *text;
    if (text.error().kind != ErrorKind::not_found) throw ClientError(text.error());
    if (Clock::now() >= deadline)
      throw ClientError(ErrorKind::not_found,
                        "no cluster is running: no connection file " + path +
                            "; start one with `pxcluster start -n 4`, or name its connection file");
    std::this_thread::sleep_for(50ms);
  }
}

Json texts_of(const std::vector<MessageId>& ids) {
  Json texts = Json::array();
  for (const MessageId& id : ids) texts.push_back(id.text);
  return texts;
}

std::vector<MessageId> ids_of(const Json& texts) {
  std::vector<MessageId> ids;
  for (const Json& text : texts)
    if (text.is_string()) ids.push_back(MessageId{text.get<std::string>()});
  return ids;
}

}  // namespace

Client Client::connect(const ClientOptions& options) {
  const std::string path = connection_file(options);
  const Duration patience = options.file.empty() ? options.file_patience : Duration::zero();
  const Result<ClientConnectionInfo> info =
      read_client_connection_info(read_connection_file(path, patience));
  if (!info) throw ClientError(ErrorKind::bad_input, path + ": " + info.error().what);
  const net::SshOptions ssh{options.ssh.server, options.ssh.key_file};
  auto connection = value_or_throw(Connection::open(*info, path, {options.timeout, "", ssh}));
  return Client{ClientCore::make(std::move(connection))};
}

const std::string& Client::controller_address() const {
  return core_->connection().interface();
}

// ---------------------------------------------------------------- engines and views

std::vector<EngineId> Client::ids() const {
  return core_->connection().engines()->ids();
}

void Client::wait_for_engines(std::size_t count, Timeout timeout) const {
  const auto deadline = timeout ? std::optional(Clock::now() + *timeout) : std::nullopt;
  if (core_->connection().wait_for_engines(count, deadline)) return;
  if (const auto why = core_->connection().why_closed())
    throw ClientError(ErrorKind::lost_peer, *why);
  throw TimeoutError(std::to_string(ids().size()) + " of " + counted(count, "engine") +
                     (ids().size() == 1 ? " has" : " have") + " registered after " +
                     format_duration(timeout.value_or(Duration::zero())) +
                     "; see the logs of the others (`pxcluster logs`)");
}

void Client::on_engine_change(std::function<void(const EngineChange&)> handler) const {
  core_->connection().on_engine_change(std::move(handler));
}

DirectView Client::direct(std::vector<EngineId> ids) const {
  const Targets targets = Targets::ids(std::move(ids));
  core_->resolve(targets);  // says now what is wrong with them
  return DirectView{core_, targets};
}

DirectView Client::gang(std::vector<EngineId> ids, const std::string& name, bool is_new) const {
  make_gang(core_, ids, name, is_new);
  return direct(std::move(ids));
}

LoadBalancedView Client::balanced(BalancedOptions options) const {
  return LoadBalancedView{core_, std::move(options)};
}

BroadcastView Client::broadcast(const Targets& targets) const {
  return BroadcastView{core_, targets};
}

// ---------------------------------------------------------------- orders

std::vector<MessageId> Client::outstanding() const {
  return core_->connection().unanswered();
}

void Client::abort(std::vector<MessageId> ids) const {
  if (ids.empty()) ids = outstanding();
  if (!ids.empty()) all().abort(ids).wait(hub_patience);
}

void Client::shutdown(const Targets& targets, bool hub, Timeout timeout) const {
  if (!this->ids().empty()) direct(targets).shutdown().wait(timeout);
  if (!hub) return;
  try {
    core_->ask_hub("shutdown_request", Json::object(), timeout.value_or(hub_patience));
  } catch (const RemoteError& error) {
    // The news that the cluster was shut down may come before the answer.
    if (error.ename() != "ConnectionLost") throw;
  }
}

// ---------------------------------------------------------------- questions

Json Client::ask_hub(const std::string& type, const Json& content) const {
  Json answer = core_->ask_hub(type, content, hub_patience).content();
  answer.erase("status");
  return answer;
}

Json Client::queue_status(const Targets& targets, bool verbose) const {
  const Json which = targets.is_all() ? Json() : numbers_of(core_->resolve(targets));
  return ask_hub("queue_request", {{"targets", which}, {"verbose", verbose}});
}

std::vector<MessageId> Client::history() const {
  return ids_of(json_member(ask_hub("history_request", Json::object()), "history"));
}

Json Client::db_query(const Json& query, const std::vector<std::string>& keys) const {
  const Json wanted = keys.empty() ? Json() : Json(keys);
  const Json answer = ask_hub("db_request", {{"query", query}, {"keys", wanted}});
  const Json& records = json_member(answer, "records");
  return records.is_array() ? records : Json::array();
}

Json Client::result_status(const std::vector<MessageId>& ids) const {
  return ask_hub("result_request", {{"msg_ids", texts_of(ids)}, {"status_only", true}});
}

AsyncResult Client::result_by_id(const std::vector<MessageId>& ids) const {
  return {fetch_results(core_, ids), core_};
}

std::vector<MessageId> Client::resubmit(const std::vector<MessageId>& ids) const {
  const Json renamed =
      object_member(ask_hub("resubmit_request", {{"msg_ids", texts_of(ids)}}), "resubmitted");
  std::vector<MessageId> fresh;
  for (const MessageId& id : ids)
    fresh.push_back(MessageId{string_member(renamed, id.text).value_or("")});
  return fresh;
}

void Client::purge(const std::vector<MessageId>& ids) const {
  ask_hub("purge_request", {{"msg_ids", texts_of(ids)}, {"engine_ids", Json::array()}});
}

void Client::purge_everything() const {
  ask_hub("purge_request", {{"msg_ids", "all"}, {"engine_ids", Json::array()}});
}

}  // namespace px::client
