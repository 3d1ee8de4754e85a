#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cluster/doctor/doctor_facts.hpp"
#include "cluster/records/hub_client.hpp"
#include "net/discovery/address.hpp"
#include "net/discovery/controller_search.hpp"
#include "net/ssh/ssh_tunnel.hpp"
#include "os/host.hpp"
#include "os/private_file.hpp"
#include "wire/channels.hpp"
#include "wire/session.hpp"

namespace px::cluster {
namespace {

using std::chrono::seconds;

constexpr Duration tunnel_patience = seconds(10);

DialState state_of(int problem) {
  if (problem == 0) return DialState::open;
  if (problem == ECONNREFUSED) return DialState::refused;
  if (problem == ETIMEDOUT) return DialState::silent;
  return DialState::unreachable;
}

/// A connection file of either side, as far as both say the same.
struct AnyInfo {
  ConnectionCommon common;
  std::vector<int> ports;
  std::optional<ClientConnectionInfo> client;
};

Result<AnyInfo> read_info(std::string_view text) {
  // A file of engines has no notification port, one of clients no heartbeats.
  if (const auto engine = read_engine_connection_info(text))
    return AnyInfo{*engine, needed_ports_of(*engine), std::nullopt};
  const auto client = read_client_connection_info(text);
  if (!client) return client.error();
  return AnyInfo{*client, needed_ports_of(*client), *client};
}

/// Whether the controller answers a signed question; nothing where we cannot ask one.
std::optional<bool> ask_controller(const ClientConnectionInfo& info, const std::string& address) {
  const Result<Session> session = new_session(info);
  if (!session) return std::nullopt;
  net::SoughtController sought;
  sought.hosts = {address};
  sought.registration = info.registration;
  sought.socket = net::dialing_options(info);
  net::AddressRace::RaceOptions options;
  options.patience = dial_patience;
  net::Context context;
  return net::find_controller(context, sought, *session, options).has_value();
}

/// The first address where all ports are open.
std::optional<std::string> open_address(const std::vector<Dialed>& dialed) {
  for (const Dialed& first : dialed)
    if (std::all_of(dialed.begin(), dialed.end(), [&](const Dialed& each) {
          return each.address != first.address || each.state == DialState::open;
        }))
      return first.address;
  return std::nullopt;
}

/// As engines and clients go that follow the `ssh` of the file.
void try_tunnel(const AnyInfo& info, FileFacts& facts) {
  facts.tunnel = net::tunnel_server(info.common, {});
  const auto server = net::SshServer::read(facts.tunnel);
  if (!server) {
    facts.tunnel_error = server.error().what;
    return;
  }
  const int port = info.common.registration;
  const auto tunnel = net::SshTunnel::open(
      {*server, "", net::tunnel_target(info.common, *server), {port}, {}}, tunnel_patience);
  if (!tunnel) {
    facts.tunnel_error = tunnel.error().what;
    return;
  }
  if (!info.client) return;
  ClientConnectionInfo redirected = *info.client;
  redirected.registration = (*tunnel)->ports().at(port);
  facts.is_answered = ask_controller(redirected, "127.0.0.1");
}

/// The profile of which `pxcluster clean` removes this file; empty: it is elsewhere.
std::string profile_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  const bool is_of_cluster =
      path.filename().string().starts_with("ipcontroller-") && folder.filename() == "security";
  return is_of_cluster ? folder.parent_path().string() : "";
}

}  // namespace

std::vector<Dialed> dial_all(const std::vector<net::TcpTarget>& targets, Duration time) {
  const std::vector<int> problems = net::dial_tcp(targets, time);
  std::vector<Dialed> dialed;
  for (std::size_t i = 0; i < targets.size(); ++i)
    dialed.push_back({targets[i].address, targets[i].port, state_of(problems[i])});
  return dialed;
}

FileFacts gather_file_facts(const std::filesystem::path& path) {
  FileFacts facts;
  facts.path = path.string();
  facts.profile_dir = profile_of(path);
  facts.user = ::geteuid();
  struct stat state{};
  facts.is_there = ::stat(path.c_str(), &state) == 0;
  if (!facts.is_there) return facts;
  facts.owner = state.st_uid;
  facts.mode = state.st_mode & 07777;
  const Result<std::string> text = os::read_file(path);
  const Result<AnyInfo> info = text ? read_info(*text) : Result<AnyInfo>(text.error());
  if (!info) {
    facts.error = info.error().what;
    return facts;
  }
  facts.location = info->common.location;
  facts.is_own_host = facts.location == os::host_name() || net::is_local_address(facts.location);
  const net::TunnelUse tunnel = net::choose_tunnel(info->common, {}, net::OwnHost::find());
  if (tunnel == net::TunnelUse::only) {
    try_tunnel(*info, facts);
    return facts;
  }
  facts.candidates = net::dial_candidates(info->common, net::OwnHost::find());
  std::vector<net::TcpTarget> targets;
  for (const std::string& candidate : facts.candidates) {
    if (net::resolve_host(candidate).empty()) {
      facts.unresolved.push_back(candidate);
      continue;
    }
    for (const int port : info->ports) targets.push_back({candidate, port});
  }
  facts.dialed = dial_all(targets, dial_patience);
  const auto open = open_address(facts.dialed);
  if (open && info->client) facts.is_answered = ask_controller(*info->client, *open);
  if (facts.is_answered == true)
    if (auto answer = HubClient::ask_once(*info->client, dial_patience)) {
      facts.engines = std::move(answer->engines);
      facts.lost = std::move(answer->lost);
    }
  if (!open && tunnel == net::TunnelUse::fallback) try_tunnel(*info, facts);
  return facts;
}

std::vector<net::TcpTarget> targets_of(const std::filesystem::path& path) {
  const Result<std::string> text = os::read_file(path);
  const Result<AnyInfo> info = text ? read_info(*text) : Result<AnyInfo>(text.error());
  if (!info) return {};
  const net::OwnHost nobody{"", {}};
  std::vector<net::TcpTarget> targets;
  for (const std::string& candidate : net::dial_candidates(info->common, nobody))
    for (const int port : info->ports) targets.push_back({candidate, port});
  return targets;
}

}  // namespace px::cluster
