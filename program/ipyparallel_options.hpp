#pragma once

#include <string_view>

namespace px::program {

/// The program of ipyparallel that one of our programs replaces.
enum class IpyparallelProgram { none, ipcluster, ipcontroller, ipengine };

/// The form of an option in ipyparallel's programs.
enum class PeerOption {
  unknown,  ///< It does not exist.
  flag,     ///< Without a value.
  value,    ///< With a value, after '=' or as the next word; traits may omit it.
};

/// How `peer` treats an option without its dashes, such as "log-url" or "IPEngine.init_mpi". The
/// table contains ipyparallel 9's names, except those that show the configuration instead of
/// starting something and those whose short name our programs have (profile, work_dir ...).
PeerOption option_of_peer(IpyparallelProgram peer, std::string_view name);

}  // namespace px::program
