#pragma once

#include <string_view>

namespace px::program {

/// The program of ipyparallel whose place one of ours takes.
enum class IpyparallelProgram { none, ipcluster, ipcontroller, ipengine };

/// How ipyparallel's programs take an option.
enum class PeerOption {
  unknown,  ///< They do not know it.
  flag,     ///< Without a value.
  value,    ///< With a value, behind '=' or as the next word; a trait may do without.
};

/// What `peer` makes of an option without its dashes, such as "log-url" or "IPEngine.init_mpi". The
/// table holds ipyparallel 9's names, but for those that show the configuration instead of starting
/// something and those of which our programs know the short name (profile, work_dir ...).
PeerOption option_of_peer(IpyparallelProgram peer, std::string_view name);

}  // namespace px::program
