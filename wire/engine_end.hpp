#pragma once

#include <string>
#include <string_view>

#include "wire/ids.hpp"

namespace px {

/// How an engine came to its end, for those whose requests ended with it.
struct EngineEnd {
  std::string engine = {};  ///< What people call it: "3 on host2"; may be empty.
  std::string why = {};     ///< "its process ended"; may be empty.
};

/// host  empty: unknown.
EngineEnd make_engine_end(EngineId id, std::string_view host, std::string_view why);

/// "Engine 3 on host2 died while running task 'abc_1': its process ended": the one wording of
/// controller and client.
std::string death_sentence(const EngineEnd& end, std::string_view msg_id);

}  // namespace px
