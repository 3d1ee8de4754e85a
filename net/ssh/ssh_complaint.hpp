#pragma once

#include <string>
#include <string_view>

namespace px::net {

// Recognizes from ssh's messages on stderr why it failed. OpenSSH has no other way to report that:
// its exit code is 255 in all of these cases.

/// The end of an error message that tells the user what to do, e.g. "; check that sshd runs there".
/// Empty if the cause is unknown, or ssh's message is sufficient.
/// server  in the user's spelling, e.g. "ann@gate".
std::string ssh_advice(std::string_view complaint, const std::string& server);

/// Whether ssh could not listen at a port of this host, because it is in use.
bool says_local_port_is_taken(std::string_view complaint);
/// Whether ssh could not listen at a port of the other host.
bool says_remote_port_is_taken(std::string_view complaint);
/// Whether sshd closed the connection before the login, as it does when many connect at the same
/// time (MaxStartups): another attempt may succeed.
bool says_server_is_crowded(std::string_view complaint);

/// The last line that is not blank; empty if there is none.
std::string last_line_of(std::string_view complaint);

}  // namespace px::net
