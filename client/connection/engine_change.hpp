#pragma once

#include "wire/ids.hpp"

namespace px::client {

/// An engine has joined or left the cluster.
struct EngineChange {
  EngineId id;              ///< Its number.
  EngineUuid uuid;          ///< A different one after a restart under the same id.
  bool is_present = false;  ///< True: it has joined; false: it has left.
};

}  // namespace px::client
