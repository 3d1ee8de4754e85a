#pragma once

#include <string>

#include "wire/connection_info.hpp"
#include "wire/session.hpp"

namespace px {

/// A session that packs and signs its messages as the connection file says. Clients, engines and
/// the controller make their Session with this function.
/// id        by default a new one.
/// username  appears in each header.
/// errors    bad_input: the file names a packer or a signature scheme that does not exist.
Result<Session> new_session(const ConnectionCommon& info,
                            SessionId id = SessionId{new_session_id()},
                            std::string username = current_username());

}  // namespace px
