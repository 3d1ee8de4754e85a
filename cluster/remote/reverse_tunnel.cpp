#include "cluster/remote/reverse_tunnel.hpp"

#include <random>
#include <set>

#include "wire/channels.hpp"

namespace px::cluster {
namespace {

/// Below those that systems give to who dials: see SshTunnel.
constexpr int first_port = 20000;
constexpr int last_port = 32000;

}  // namespace

TunnelMeans TunnelMeans::of_this_host() {
  return {net::OwnHost::find(), [random = std::mt19937{std::random_device{}()}]() mutable {
            return std::uniform_int_distribution<int>{first_port, last_port}(random);
          }};
}

Result<ReverseTunnel> plan_reverse_tunnel(std::string_view connection_info,
                                          const TunnelMeans& means) {
  auto info = read_engine_connection_info(connection_info);
  if (!info) return info.error();
  const std::vector<std::string> candidates = net::dial_candidates(*info, means.here);
  const std::string controller = candidates.empty() ? "127.0.0.1" : candidates.front();
  info->lifeline.reset();
  ReverseTunnel tunnel;
  std::map<int, int> ports;
  std::set<int> taken;
  for (const int port : ports_of(*info)) {
    int there = means.any_port();
    while (!taken.insert(there).second) there = there < last_port ? there + 1 : first_port;
    ports[port] = there;
    tunnel.forwards.push_back({there, controller, port});
  }
  net::redirect(*info, ports);
  tunnel.connection_info =
      with_told_beside(Json::parse(write_connection_info(*info)), connection_info);
  return tunnel;
}

std::string with_told_beside(Json redirected, std::string_view connection_info) {
  const Result<Json> told = unpack(Packer::json, connection_info);
  for (const char* key : {"engine_set", "engine_ids", "ranks"})
    if (told && told->contains(key)) redirected[key] = (*told)[key];
  return pack(Packer::json, redirected);
}

std::vector<std::string> reverse_tunnel_arguments(const std::vector<net::Forward>& forwards) {
  std::vector<std::string> words;
  if (!forwards.empty()) words = {"-o", "ExitOnForwardFailure=yes"};
  for (const net::Forward& each : forwards)
    words.insert(words.end(),
                 {"-R", "127.0.0.1:" + std::to_string(each.local_port) + ":" +
                            net::in_brackets(each.host) + ":" + std::to_string(each.port)});
  return words;
}

}  // namespace px::cluster
