#pragma once

#include "wire/ids.hpp"

namespace px::client {

/// An engine came or left.
struct EngineChange {
  EngineId id;
  EngineUuid uuid;
  bool is_present = false;
};

}  // namespace px::client
