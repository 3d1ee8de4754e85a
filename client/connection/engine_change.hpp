#pragma once

#include "wire/ids.hpp"

namespace px::client {

/// An engine has joined or left the cluster.
struct EngineChange {
  EngineId id;              ///< The engine's id.
  EngineUuid uuid;          ///< Differs after a restart under the same id.
  bool is_present = false;  ///< Whether it has joined; false: it has left.
};

}  // namespace px::client
