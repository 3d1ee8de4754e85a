#pragma once

#include <string_view>

#include "os/segments/fetched_piece.hpp"
#include "os/segments/segment_piece.hpp"

namespace px::controller {

/// Whether a message of this type to an engine is a call, which the engine answers and records
/// contain. Messages of widgets (comm_msg) are never answered: as calls they would stay pending for
/// ever. Pieces of arrays are only passed on; the request that names them is the call.
inline bool is_call(std::string_view msg_type) {
  return msg_type.ends_with("_request") && msg_type != os::segment_request_type &&
         msg_type != os::fetch_request_type;
}

}  // namespace px::controller
