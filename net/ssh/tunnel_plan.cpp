#include "net/ssh/tunnel_plan.hpp"

#include <algorithm>

#include "wire/channels.hpp"

namespace px::net {
namespace {

bool is_on_loopback(const ConnectionCommon& info) {
  const std::string ip = ip_of_interface(info.interface);
  return is_loopback(ip) || ip == "localhost";
}

template <class Info>
void redirect_all(Info& info, const std::map<int, int>& ports) {
  info.interface = "tcp://127.0.0.1";
  info.ssh.clear();
  info.location.clear();
  info.addresses.clear();
  info.local.reset();
  visit_ports(info, [&](int& port) { port = ports.at(port); });
}

}  // namespace

Result<SshServer> SshServer::read(std::string_view text) {
  const auto bad = [&] {
    return Error{ErrorKind::bad_input,
                 "'" + std::string(text) + "' is not an ssh server: write [user@]host[:port]"};
  };
  SshServer server;
  std::string_view login = text;
  const std::size_t host = login.rfind('@') == std::string_view::npos ? 0 : login.rfind('@') + 1;
  const std::size_t bracket = login.rfind(']');
  const std::size_t colon = login.rfind(':');
  const bool is_bare_ipv6 = bracket == std::string_view::npos && login.find(':', host) != colon;
  const bool has_port = colon != std::string_view::npos && colon >= host && !is_bare_ipv6 &&
                        (bracket == std::string_view::npos || colon > bracket);
  if (has_port) {
    server.port = read_port(login.substr(colon + 1));
    if (!server.port) return bad();
    login = login.substr(0, colon);
  }
  server.login = login;
  std::erase_if(server.login, [](char c) { return c == '[' || c == ']'; });
  const bool is_odd = std::any_of(login.begin(), login.end(), [](unsigned char c) {
    // Neither blanks nor control characters, nor what a shell reads otherwise than as it stands:
    // ssh hands the name to the shells of ProxyCommand and LocalCommand.
    return c <= ' ' || c == 127 ||
           std::string_view("'\"`$&|;<>(){}").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (server.host().empty() || server.login.starts_with('-') || is_odd) return bad();
  return server;
}

std::vector<std::string> tunnel_command(const TunnelPlan& plan) {
  std::vector<std::string> words{"ssh", "-N", "-T", "-a", "-x"};
  for (const char* option :
       {"BatchMode=yes", "ExitOnForwardFailure=yes", "ConnectTimeout=8", "ServerAliveInterval=5",
        "ServerAliveCountMax=3", "ControlMaster=no", "ControlPath=none", "LogLevel=INFO",
        "RemoteCommand=none", "PermitLocalCommand=yes"})
    words.insert(words.end(), {"-o", option});
  words.insert(words.end(), {"-o", "LocalCommand=echo " + std::string(tunnel_is_up)});
  if (plan.server.port) words.insert(words.end(), {"-p", std::to_string(*plan.server.port)});
  if (!plan.key_file.empty()) words.insert(words.end(), {"-i", plan.key_file});
  for (const Forward& each : plan.forwards)
    words.insert(words.end(), {"-L", "127.0.0.1:" + std::to_string(each.local_port) + ":" +
                                         in_brackets(each.host) + ":" + std::to_string(each.port)});
  words.insert(words.end(), {"--", plan.server.login});
  return words;
}

TunnelUse choose_tunnel(const ConnectionCommon& info, const SshOptions& options,
                        const OwnHost& here) {
  if (!options.server.empty() || !options.key_file.empty()) return TunnelUse::only;
  if (info.ssh.empty()) return TunnelUse::none;
  if (!info.location.empty() && here.is_called(info.location)) return TunnelUse::fallback;
  return is_on_loopback(info) || !info.curve_serverkey ? TunnelUse::only : TunnelUse::fallback;
}

std::string tunnel_server(const ConnectionCommon& info, const SshOptions& options) {
  if (!options.server.empty()) return options.server;
  if (!info.ssh.empty()) return info.ssh;
  if (!info.location.empty()) return info.location;
  return info.addresses.empty() ? ip_of_interface(info.interface) : info.addresses.front();
}

std::string tunnel_target(const ConnectionCommon& info, const SshServer& server) {
  const std::string host = server.host();
  const bool is_of_server =
      info.location == host ||
      std::find(info.addresses.begin(), info.addresses.end(), host) != info.addresses.end();
  if (!is_wildcard(info.interface))
    return is_on_loopback(info) ? "127.0.0.1" : ip_of_interface(info.interface);
  if (is_of_server) return ip_of_interface(info.interface) == "::" ? "::1" : "127.0.0.1";
  if (!info.addresses.empty()) return info.addresses.front();
  return info.location.empty() ? "127.0.0.1" : info.location;
}

void redirect(ClientConnectionInfo& info, const std::map<int, int>& ports) {
  redirect_all(info, ports);
}

void redirect(EngineConnectionInfo& info, const std::map<int, int>& ports) {
  redirect_all(info, ports);
}

}  // namespace px::net
