#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <px/wire/error.hpp>
#include <px/wire/json.hpp>

namespace px {

/// How a cluster is to be started, as profiles and the command line say it. A value.
struct Settings {
  std::optional<int> n;              ///< Engines; not said = one for each core.
  std::string engines = "local";     ///< The launcher of the engines, as the user wrote it.
  std::string controller = "local";  ///< The launcher of the controller.
  std::vector<std::string> controller_args;
  std::vector<std::string> engine_args;
  std::string
      language;  ///< What the engines speak, as a LanguagePlan; empty = the engines' default.
  std::vector<std::string> mpi_cmd{"mpiexec"};
  std::vector<std::string> mpi_args;        ///< Between `-n N` and the program.
  std::vector<std::string> controller_cmd;  ///< Empty = the pxcontroller beside this program.
  std::vector<std::string> engine_cmd;      ///< Empty = the pxengine beside this program.
  std::string ip;                           ///< Where the controller listens; empty = loopback.
  std::string location;                     ///< What others call the controller's host.
  double delay = 0;                         ///< Seconds between controller and engines.
  double engine_timeout = 60;               ///< Seconds until missing engines are reported.
  std::map<std::string, std::string> environment;  ///< For controller and engines.
};

/// More engines than this are taken for a slip of the finger.
inline constexpr int max_engines = 65536;

/// Lays the members of a profile (an object) over `settings`. `source` names it in errors.
/// errors  bad_input: a key that nobody knows (the known ones are listed), or a wrong type.
Result<void> apply_profile(Settings& settings, const Json& profile, std::string_view source);

/// The same for an ipcluster_config.json: its `Cluster.*` traits.
/// Returns the names of those that are not understood, as "Cluster.load_profile".
/// errors  bad_input: a trait that is known has a wrong type.
Result<std::vector<std::string>> apply_ipcluster_config(Settings& settings, const Json& config,
                                                        std::string_view source);

}  // namespace px
