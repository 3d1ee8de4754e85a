#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <px/engine/options.hpp>
#include <px/engine/world.hpp>
#include <px/wire/connection_info.hpp>
#include <px/wire/time.hpp>

namespace px {

/// Where the controller is: $IPP_CONNECTION_INFO, --file, or the file of the profile, for which it
/// waits, telling `report` of it every few seconds (protocol 2.5). Key and CURVE key that the file
/// lacks come from the options and the environment; `interface` is one that can be dialed.
/// errors  not_found: the file did not come in time; bad_input: it is not usable.
Result<EngineConnectionInfo> find_connection(const EngineOptions& options,
                                             const ProfilePaths& paths,
                                             const Environment& environment,
                                             const std::function<void(const std::string&)>& report);

}  // namespace px
