#pragma once

#include <string>

#include "wire/json.hpp"

namespace px::cluster {

/// Each function watches engines that are not processes of this computer, in a separate process: so
/// the program that starts and stops a cluster handles that process like a local one: it ends when
/// the engines have ended, and SIGTERM ends them. Returns the exit code.
/// plan             a JobPlan: a job of a batch system; or an SshHostPlan: the engines of one host.
/// connection_info  the text of the engines' connection file.
int watch_job(const Json& plan, const std::string& connection_info);
int watch_ssh(const Json& plan, const std::string& connection_info);

}  // namespace px::cluster
