#include <px/net/ssh_complaint.hpp>

#include <algorithm>
#include <initializer_list>

namespace px {
namespace {

bool says_any(std::string_view complaint, std::initializer_list<std::string_view> texts) {
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
    return complaint.find(text) != std::string_view::npos;
  });
}

}  // namespace

std::string ssh_advice(std::string_view complaint, const std::string& server) {
  if (says_any(complaint, {"Permission denied", "Too many authentication failures"}))
    return "; it must let you in by a key without a question: ssh-copy-id " + server;
  if (says_any(complaint, {"Host key verification failed"}))
    return "; its key is not known here: log in once by hand: ssh " + server;
  if (says_any(complaint, {"Could not resolve hostname"}))
    return "; is the name right? getent hosts " + server.substr(server.rfind('@') + 1) +
           " shows what this host knows";
  if (says_any(complaint, {"administratively prohibited"}))
    return "; its sshd forbids forwarding: AllowTcpForwarding must be yes there";
  if (says_local_port_is_taken(complaint))
    return "; does ~/.ssh/config forward ports to " + server + " that another ssh holds already?";
  if (says_any(complaint, {"Connection refused"})) return "; does sshd run there?";
  if (says_any(complaint, {"timed out", "No route to host", "Network is unreachable"}))
    return "; is it up, and is port 22 open from here?";
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

}  // namespace px
