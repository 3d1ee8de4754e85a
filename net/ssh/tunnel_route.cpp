#include "net/ssh/tunnel_route.hpp"

#include <algorithm>

#include "net/ssh/ssh_complaint.hpp"
#include "wire/channels.hpp"

namespace px::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Together with the search behind the tunnel these are less than 15 s.
constexpr Duration direct_patience = milliseconds(1500);
constexpr Duration tunnel_patience = seconds(9);
constexpr Duration inner_patience = seconds(3);

Error nobody_behind(const std::string& target, int port, const SshTunnel& tunnel,
                    const std::string& server, const Error& error) {
  const std::string words = tunnel.last_words();
  const std::string where = target + ":" + std::to_string(port);
  if (words.find("open failed") == std::string::npos)
    return {error.kind,
            "through the ssh tunnel to " + server + " (" + where + " there): " + error.what};
  const std::string advice = ssh_advice(words, server);
  const bool is_forbidden = words.find("prohibited") != std::string::npos;
  return {error.kind,
          "no controller answers at " + where + " behind the ssh tunnel to " + server +
              ": ssh says " + words +
              (is_forbidden ? advice
                            : "; the controller has ended, or its address is wrong as seen from " +
                                  server + ": set it with pxcontroller --location")};
}

template <class Info>
Result<std::unique_ptr<SshTunnel>> through_tunnel(Info& info, const SshOptions& options,
                                                  Duration patience, const Reach<Info>& reach,
                                                  const TunnelReport& report) {
  const auto server = SshServer::read(tunnel_server(info, options));
  if (!server) return server.error();
  const std::string target = tunnel_target(info, *server);
  const int registration = info.registration;
  auto tunnel =
      SshTunnel::open({*server, options.key_file, target, ports_of(info), report}, tunnel_patience);
  if (!tunnel) return tunnel.error();
  redirect(info, (*tunnel)->ports());
  if (auto reached = reach(info, std::min(patience, inner_patience)); !reached)
    return nobody_behind(target, registration, **tunnel, server->login, reached.error());
  return tunnel;
}

template <class Info>
Result<std::unique_ptr<SshTunnel>> route(Info& info, const SshOptions& options, Duration patience,
                                         const Reach<Info>& reach, const TunnelReport& report) {
  const TunnelUse use = choose_tunnel(info, options, OwnHost::find());
  if (use != TunnelUse::only) {
    const bool is_last = use == TunnelUse::none;
    auto reached = reach(info, is_last ? patience : std::min(patience, direct_patience));
    if (reached) return std::unique_ptr<SshTunnel>{};
    if (is_last || reached.error().kind != ErrorKind::lost_peer) return reached.error();
  }
  return through_tunnel(info, options, patience, reach, report);
}

}  // namespace

Result<std::unique_ptr<SshTunnel>> find_route(ClientConnectionInfo& info, const SshOptions& options,
                                              Duration patience,
                                              const Reach<ClientConnectionInfo>& reach) {
  return route(info, options, patience, reach, {});
}
Result<std::unique_ptr<SshTunnel>> find_route(EngineConnectionInfo& info, const SshOptions& options,
                                              Duration patience,
                                              const Reach<EngineConnectionInfo>& reach,
                                              const TunnelReport& report) {
  return route(info, options, patience, reach, report);
}

}  // namespace px::net
