#pragma once

#include <string>

#include "wire/json.hpp"

namespace px::cluster {

/// Each watches over engines that are not children of this computer, in a process of its own: so to
/// the one that starts and stops a cluster they are a process like any other: it ends when they
/// have ended, and SIGTERM ends them. Gives the exit code.
/// plan             a JobPlan: a job of a batch system; or an SshHostPlan: the engines of one host.
/// connection_info  the text of the engines' connection file.
int watch_job(const Json& plan, const std::string& connection_info);
int watch_ssh(const Json& plan, const std::string& connection_info);

}  // namespace px::cluster
