#pragma once

#include <string>

#include "wire/connection_info.hpp"
#include "wire/session.hpp"

namespace px {

/// A session that packs and signs as a connection file says.
/// errors  bad_input: the file names a packer or a signature scheme that there is not.
Result<Session> new_session(const ConnectionCommon& info,
                            SessionId id = SessionId{new_session_id()},
                            std::string username = current_username());

}  // namespace px
