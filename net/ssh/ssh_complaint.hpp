#pragma once

#include <string>
#include <string_view>

namespace px::net {

// What ssh says on stderr when it fails.

/// What a person can do about it; empty where ssh says enough.
/// server  as the user named it, e.g. "ann@gate".
std::string ssh_advice(std::string_view complaint, const std::string& server);

/// Whether a port of this host that ssh was to listen at is taken.
bool says_local_port_is_taken(std::string_view complaint);
/// Whether a port of the other host is.
bool says_remote_port_is_taken(std::string_view complaint);
/// Whether an sshd that many dial at once has turned this one away: it may let the next one in.
bool says_server_is_crowded(std::string_view complaint);

/// The last line that is more than a blank.
std::string last_line_of(std::string_view complaint);

}  // namespace px::net
