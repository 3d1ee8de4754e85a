#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::cluster {

/// A host, and the number of its engines.
struct HostSlots {
  std::string host;  ///< In the form that ssh or mpiexec takes: "host2", "ann@host2", "10.0.0.2",
                     ///< "::1".
  std::optional<int> slots;  ///< Nothing: not given.
  bool operator==(const HostSlots&) const = default;
};

/// "host2:4,ann@host3,node[01-16]:2,[fe80::1]:2"; blanks separate like commas, a range means all
/// its hosts. A host that is named twice becomes one with all the slots.
/// errors  bad_input: the message names the word that cannot be read.
Result<std::vector<HostSlots>> parse_hosts(std::string_view text);

/// A host file in the form of Open MPI ("host2 slots=4 max_slots=8") or MPICH ("host2:4"); # begins
/// a comment.  errors  bad_input: the message names the line.
Result<std::vector<HostSlots>> parse_host_file(std::string_view text);

/// The forms in a profile: a text as above, a list of such texts, or an object {"host2": 4} as in
/// ipcluster's SSHEngineSetLauncher.engines, in which a value may also be {"n": 4}.
Result<std::vector<HostSlots>> hosts_from_json(const Json& value);

/// How many of `count` engines each host gets, in order: first as many as it has slots; the rest is
/// distributed in turn; hosts without a number share equally what the others leave. Precondition:
/// hosts is not empty.
std::vector<int> share_engines(const std::vector<HostSlots>& hosts, int count);

/// The sum of the slots; a host without a number counts as one.
int count_slots(const std::vector<HostSlots>& hosts);

/// Whether the host is this computer by one of loopback's names.
bool is_loopback_name(std::string_view host);

}  // namespace px::cluster
