#include <algorithm>
#include <cmath>

#include "cluster/doctor/dialed_ports.hpp"
#include "cluster/doctor/doctor.hpp"
#include "cluster/launch/mpi_kind.hpp"

namespace px::cluster {
namespace {

/// "3.11" of "3.11.7"
std::string minor_of(const std::string& version) {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

Finding not_asked(const RemoteFacts& remote) {
  const bool is_missing = holds(remote.error, "not found") || holds(remote.error, "No such file");
  return {
      Severity::error, "ssh", remote.name + ": cannot run pxcluster doctor there: " + remote.error,
      "the ssh launcher starts engines in the same way, and would fail, too",
      is_missing ? "install polyxeus there at the same path, or name its pxcluster with --remote"
                 : "try `ssh " + remote.name + " hostname`: it must work without a password"};
}

void compare_versions(const HostFacts& there, const HostFacts& here, Findings& findings) {
  const std::string ours = here.python.version, theirs = there.python.version;
  if (!ours.empty() && !theirs.empty() && minor_of(ours) != minor_of(theirs))
    add(findings, Severity::error, "versions",
        "its Python version is " + theirs + ", this host's is " + ours,
        "functions can be sent only between the same Python versions (3.x to 3.x)",
        "create an environment with Python " + minor_of(ours) + " there");
  if (!there.polyxeus.empty() && there.polyxeus != here.polyxeus)
    add(findings, Severity::warning, "versions",
        "its polyxeus version is " + there.polyxeus + ", this host's is " + here.polyxeus,
        "programs of different versions may not work together", "install one version on all hosts");
  const std::string our_mpi(name_of(read_mpi_kind(here.python.mpi)));
  const std::string their_mpi(name_of(read_mpi_kind(there.python.mpi)));
  if (!our_mpi.empty() && !their_mpi.empty() && our_mpi != their_mpi)
    add(findings, Severity::error, "versions",
        "its mpi4py is built for " + their_mpi + ", this host's for " + our_mpi,
        "ranks of different MPIs cannot form one MPI world", "install one MPI on all hosts");
}

void compare_clocks(const RemoteFacts& remote, Findings& findings) {
  const double middle = (remote.asked_at + remote.answered_at) / 2;
  const double skew = remote.facts.unix_time - middle;
  const double doubt = (remote.answered_at - remote.asked_at) / 2 + 1;
  if (std::abs(skew) <= doubt + 1) return;
  add(findings, Severity::warning, "clock",
      "its clock is " + std::to_string(std::llround(std::abs(skew))) + " s " +
          (skew > 0 ? "ahead of" : "behind") + " that of this host",
      "times of tasks cannot be compared, and munge (Slurm) refuses more than five minutes",
      "synchronize both clocks with NTP (chrony, systemd-timesyncd)");
}

/// One address that takes all connections is enough: engines find it.
void examine_ports(const std::vector<Dialed>& dialed, Findings& findings) {
  const std::vector<DialedPorts> addresses = by_address(dialed);
  if (addresses.empty() || std::any_of(addresses.begin(), addresses.end(),
                                       [](const auto& address) { return address.is_open(); }))
    return;
  const auto worth = [](const DialedPorts& address) {
    return std::pair(address.open.size(), address.refused.size());
  };
  const DialedPorts& best =
      *std::max_element(addresses.begin(), addresses.end(),
                        [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
  const bool is_refused = !best.refused.empty();
  const std::vector<int>& closed = is_refused             ? best.refused
                                   : !best.silent.empty() ? best.silent
                                                          : best.unreachable;
  add(findings, Severity::error, "port",
      "from there " + best.name + (is_refused ? " refuses " : " does not answer at ") +
          port_list(closed),
      "its engines cannot reach the controller",
      is_refused ? "start the controller with --ip='*' so that it listens at that address"
                 : "open the ports in the firewall of this host, or of that one (pxcluster start "
                   "... -- --ports=RANGE chooses the ports); or connect the engines through "
                   "ssh: --engines=ssh --tunnel");
}

}  // namespace

Findings examine_remote(const RemoteFacts& remote, const HostFacts& here, bool needs_mpi) {
  if (!remote.error.empty()) return {not_asked(remote)};
  Findings findings = examine_host(remote.facts, needs_mpi);
  compare_versions(remote.facts, here, findings);
  compare_clocks(remote, findings);
  examine_ports(remote.facts.dialed, findings);
  for (Finding& finding : findings) finding.what = remote.name + ": " + finding.what;
  return findings;
}

}  // namespace px::cluster
