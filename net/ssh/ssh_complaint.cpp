#include "net/ssh/ssh_complaint.hpp"

#include <algorithm>
#include <initializer_list>

namespace px::net {
namespace {

bool says_any(std::string_view complaint, std::initializer_list<std::string_view> texts) {
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
    return complaint.find(text) != std::string_view::npos;
  });
}

}  // namespace

std::string ssh_advice(std::string_view complaint, const std::string& server) {
  if (says_any(complaint, {"Permission denied", "Too many authentication failures"}))
    return "; ssh must log in with a key and without a password: run ssh-copy-id " + server;
  if (says_any(complaint, {"Host key verification failed"}))
    return "; its host key is unknown here: log in once by hand: ssh " + server;
  if (says_any(complaint, {"Could not resolve hostname"}))
    return "; check the name: getent hosts " + server.substr(server.rfind('@') + 1) +
           " shows how this host resolves it";
  if (says_any(complaint, {"administratively prohibited"}))
    return "; its sshd forbids forwarding: set AllowTcpForwarding yes there";
  if (says_local_port_is_taken(complaint))
    return "; another ssh process may already use a port that ~/.ssh/config forwards to " + server +
           ": remove LocalForward there";
  if (says_any(complaint, {"Connection refused"})) return "; check that sshd runs there";
  if (says_any(complaint, {"timed out", "No route to host", "Network is unreachable"}))
    return "; check that the host is up and that port 22 is open from here";
  return "";
}

bool says_local_port_is_taken(std::string_view complaint) {
  return says_any(complaint, {"cannot listen to port", "Could not request local forwarding"});
}

bool says_remote_port_is_taken(std::string_view complaint) {
  return says_any(complaint, {"remote port forwarding failed for listen port"});
}

bool says_server_is_crowded(std::string_view complaint) {
  return says_any(complaint, {"kex_exchange_identification", "ssh_exchange_identification",
                              "Connection closed by", "Connection reset by"});
}

std::string last_line_of(std::string_view complaint) {
  std::string line;
  while (!complaint.empty()) {
    const std::size_t end = std::min(complaint.find('\n'), complaint.size());
    std::string_view each = complaint.substr(0, end);
    while (!each.empty() && (each.back() == '\r' || each.back() == ' ')) each.remove_suffix(1);
    if (!each.empty()) line = each;
    complaint.remove_prefix(std::min(end + 1, complaint.size()));
  }
  return line;
}

}  // namespace px::net
