#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cluster/doctor/doctor_facts.hpp"
#include "net/discovery/address.hpp"
#include "net/discovery/controller_search.hpp"
#include "net/ssh/ssh_tunnel.hpp"
#include "net/tcp.hpp"
#include "os/private_file.hpp"
#include "wire/channels.hpp"

namespace px::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration patience = seconds(3);
constexpr Duration tunnel_patience = seconds(10);

DialState state_of(int problem) {
  if (problem == 0) return DialState::open;
  if (problem == ECONNREFUSED) return DialState::refused;
  if (problem == ETIMEDOUT) return DialState::silent;
  return DialState::unreachable;
}

int error_of(int socket) {
  int problem = 0;
  socklen_t length = sizeof problem;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &length);
  return problem;
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
    return AnyInfo{*engine, ports_of(*engine), std::nullopt};
  const auto client = read_client_connection_info(text);
  if (!client) return client.error();
  return AnyInfo{*client, ports_of(*client), *client};
}

/// Whether the controller answers a signed question; nothing where we cannot ask one.
std::optional<bool> ask_controller(const ClientConnectionInfo& info, const std::string& address) {
  const auto packer = packer_by_name(info.pack);
  auto signer = Signer::create(info.signature_scheme, info.key);
  if (!packer || !signer) return std::nullopt;
  net::SoughtController sought;
  sought.hosts = {address};
  sought.registration = info.registration;
  sought.curve_server_key = info.curve_serverkey;
  net::AddressRace::Options options;
  options.patience = patience;
  return net::find_controller(
             sought,
             Session{SessionId{new_session_id()}, current_username(), *packer, std::move(*signer)},
             options)
      .has_value();
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

}  // namespace

std::vector<Dialed> dial_all(const std::vector<DialTarget>& targets, Duration time) {
  std::vector<Dialed> dialed;
  std::vector<os::Descriptor> sockets;
  std::vector<pollfd> waiting;
  for (const DialTarget& target : targets) {
    errno = 0;
    Result<os::Descriptor> socket = net::start_connect_tcp(target.address, target.port);
    dialed.push_back({target.address, target.port,
                      socket ? DialState::silent : state_of(errno ? errno : ENETUNREACH)});
    sockets.push_back(socket ? std::move(*socket) : os::Descriptor{});
    waiting.push_back({sockets.back().value(), POLLOUT, 0});
  }
  const Instant end = Clock::now() + time;
  while (std::any_of(waiting.begin(), waiting.end(), [](const pollfd& p) { return p.fd >= 0; })) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now()).count();
    if (left <= 0 || ::poll(waiting.data(), waiting.size(), static_cast<int>(left)) == 0) break;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      dialed[i].state = state_of(error_of(waiting[i].fd));
      waiting[i].fd = -1;  // poll() leaves it out
    }
  }
  return dialed;
}

FileFacts gather_file_facts(const std::filesystem::path& path) {
  FileFacts facts;
  facts.path = path.string();
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
  facts.is_own_host = facts.location == net::host_name() || net::is_local_address(facts.location);
  const net::TunnelUse tunnel = net::choose_tunnel(info->common, {}, net::OwnHost::find());
  if (tunnel == net::TunnelUse::only) {
    try_tunnel(*info, facts);
    return facts;
  }
  facts.candidates = net::dial_candidates(info->common, net::OwnHost::find());
  std::vector<DialTarget> targets;
  for (const std::string& candidate : facts.candidates) {
    if (net::resolve_host(candidate).empty()) {
      facts.unresolved.push_back(candidate);
      continue;
    }
    for (const int port : info->ports) targets.push_back({candidate, port});
  }
  facts.dialed = dial_all(targets, patience);
  const auto open = open_address(facts.dialed);
  if (open && info->client) facts.is_answered = ask_controller(*info->client, *open);
  if (!open && tunnel == net::TunnelUse::fallback) try_tunnel(*info, facts);
  return facts;
}

std::vector<DialTarget> targets_of(const std::filesystem::path& path) {
  const Result<std::string> text = os::read_file(path);
  const Result<AnyInfo> info = text ? read_info(*text) : Result<AnyInfo>(text.error());
  if (!info) return {};
  const net::OwnHost nobody{"", {}};
  std::vector<DialTarget> targets;
  for (const std::string& candidate : net::dial_candidates(info->common, nobody))
    for (const int port : info->ports) targets.push_back({candidate, port});
  return targets;
}

}  // namespace px::cluster
