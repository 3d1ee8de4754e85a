#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "cluster/doctor/dialed_ports.hpp"
#include "cluster/doctor/doctor.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

Finding error(const char* check, std::string what, std::string why, std::string fix) {
  return {Severity::error, check, std::move(what), std::move(why), std::move(fix)};
}

std::string octal(unsigned mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode & 07777);
  return text;
}

std::optional<Finding> examine_rights(const FileFacts& facts) {
  if (facts.owner != facts.user && facts.owner != 0)
    return error("owner",
                 facts.path + " belongs to user " + std::to_string(facts.owner) + ", not to you",
                 "its owner can read and change all messages of the cluster",
                 "make a copy that you own: cp " + facts.path + " my.json; chmod 600 my.json");
  if ((facts.mode & 077) == 0) return std::nullopt;
  return error("permissions",
               "other users can read " + facts.path + ": it has mode " + octal(facts.mode),
               "anyone who has its keys can run code as you", "chmod 600 " + facts.path);
}

Finding refused_by_all(const FileFacts& facts, const std::string& address) {
  if (facts.is_own_host)
    return error("stale", "no program listens at the ports of " + facts.path,
                 "the controller has ended and left the file behind",
                 facts.profile_dir.empty()
                     ? "rm '" + facts.path + "'"
                     : "pxcluster clean --profile-dir='" + facts.profile_dir + "'");
  return error("refused", address + " answers, but refuses the ports of " + facts.path,
               "the controller has ended, or it listens only at another address of its host",
               "on " + facts.location +
                   ", `pxcluster list` shows whether it runs; start it with "
                   "--ip='*', and copy the new file here");
}

/// What is wrong where the file's way leads through ssh.
std::optional<Finding> examine_tunnel(const FileFacts& facts) {
  if (!facts.tunnel_error.empty())
    return error("ssh", facts.tunnel_error,
                 "by " + facts.path + " reaches the controller through ssh",
                 "ssh " + facts.tunnel + " hostname must work without a password");
  if (facts.is_answered != false) return std::nullopt;
  return error(
      "key", "no controller behind the ssh tunnel to " + facts.tunnel + " accepts this file's key",
      "the controller has ended, or the file is from another run",
      "copy the current file from " + facts.location +
          ": a controller makes new keys at each start");
}

Finding lost_engines(const FileFacts& facts) {
  std::map<std::string, std::size_t> counts;
  for (const EngineFacts& engine : facts.lost) ++counts[engine.host];
  std::vector<std::string> hosts;
  for (const auto& [host, count] : counts)
    hosts.push_back(std::to_string(count) + " on " + (host.empty() ? "an unknown host" : host));
  return error("engines", "engines were lost: " + join(hosts, ", "),
               "`pxcluster status` says how each of them ended",
               "fix the cause, then start them again: `pxcluster restart`");
}

/// What is wrong where no address takes all connections.
Finding examine_addresses(const FileFacts& facts, const std::vector<DialedPorts>& addresses) {
  const auto partly =
      std::find_if(addresses.begin(), addresses.end(),
                   [](const DialedPorts& address) { return !address.open.empty(); });
  if (partly != addresses.end()) {
    const bool is_refused = !partly->refused.empty();
    const auto& closed = is_refused ? partly->refused : partly->silent;
    return error("port",
                 partly->name + " accepts connections, but not at " + port_list(closed) +
                     (is_refused ? ": refused" : ": no answer"),
                 "engines and clients need all ports of the file",
                 "open them in the firewall of " + facts.location +
                     ", or choose ports that are open: pxcluster start ... -- --ports=RANGE");
  }
  const auto refused =
      std::find_if(addresses.begin(), addresses.end(),
                   [](const DialedPorts& address) { return !address.refused.empty(); });
  if (refused != addresses.end()) return refused_by_all(facts, refused->name);
  const auto unreachable =
      std::find_if(addresses.begin(), addresses.end(),
                   [](const DialedPorts& address) { return !address.unreachable.empty(); });
  if (unreachable != addresses.end())
    return error("address", unreachable->name + " cannot be reached from this host",
                 "there is no route to that network, or no host has that address",
                 "start the controller with --ip='*' or with --location and an address of its host "
                 "that this host can reach, and copy the new file here");
  return error("firewall", join(facts.candidates, ", ") + " do not answer at any port",
               "a firewall drops the connections, or the address is not that of the controller",
               "open the ports in the firewall of " + facts.location +
                   " (pxcluster start ... -- --ports=RANGE chooses them), or start with "
                   "--location and the right address; if only ssh is open, start engines "
                   "and clients with --ssh=" +
                   facts.location + ", Client(sshserver=...)");
}

}  // namespace

std::vector<std::string> hosts_of(const std::vector<FileFacts>& files, const std::string& own) {
  std::set<std::string> hosts;
  for (const FileFacts& file : files)
    for (const auto* engines : {&file.engines, &file.lost})
      for (const EngineFacts& engine : *engines)
        if (!engine.host.empty() && engine.host != own) hosts.insert(engine.host);
  return {hosts.begin(), hosts.end()};
}

Findings examine_file(const FileFacts& facts) {
  if (!facts.is_there)
    return {error("file", "there is no connection file " + facts.path,
                  "clients and engines read the controller's address from it",
                  "pxcluster start, or name the right file or profile: --file, --profile, "
                  "--cluster-id")};
  Findings findings;
  if (auto finding = examine_rights(facts)) findings.push_back(std::move(*finding));
  if (!facts.error.empty()) {
    if (findings.empty())
      findings.push_back(error("file", facts.path + " cannot be used: " + facts.error,
                               "clients and engines read the controller's address from it",
                               "start the cluster again, and copy the whole file"));
    return findings;
  }
  if (!facts.tunnel.empty()) {
    if (auto finding = examine_tunnel(facts)) findings.push_back(std::move(*finding));
    return findings;
  }
  if (!facts.unresolved.empty() && facts.unresolved.size() == facts.candidates.size()) {
    findings.push_back(error("name", join(facts.unresolved, ", ") + " does not resolve",
                             "the file has no other address of the controller",
                             "start the controller with --ip='*', or with --location and an "
                             "address instead of a name"));
    return findings;
  }
  const std::vector<DialedPorts> addresses = by_address(facts.dialed);
  if (addresses.empty()) return findings;
  if (!facts.lost.empty()) findings.push_back(lost_engines(facts));
  const auto open = std::find_if(addresses.begin(), addresses.end(),
                                 [](const DialedPorts& address) { return address.is_open(); });
  if (open == addresses.end())
    findings.push_back(examine_addresses(facts, addresses));
  else if (facts.is_answered == false)
    findings.push_back(error(
        "key", "the program that listens at " + open->name + " does not accept this file's key",
        "the file is from another run of the controller, or from another controller",
        "copy the current file from " + facts.location +
            ": a controller makes new keys at each start"));
  return findings;
}

}  // namespace px::cluster
