#pragma once

#include "wire/ids.hpp"

namespace px::client {

/// An engine came or left.
struct EngineChange {
  EngineId id;              ///< Its number.
  EngineUuid uuid;          ///< Another one after a restart under the same number.
  bool is_present = false;  ///< It came; otherwise it left.
};

}  // namespace px::client
