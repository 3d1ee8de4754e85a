#pragma once

#include "wire/ids.hpp"

namespace px::client {

/// An engine has joined or left the cluster.
struct EngineChange {
  EngineId id;              ///< The engine's id.
  EngineUuid uuid;          ///< A restarted engine has a new uuid.
  bool is_present = false;  ///< True: the engine has joined; false: it has left.
};

}  // namespace px::client
