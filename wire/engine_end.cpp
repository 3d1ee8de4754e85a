#include "wire/engine_end.hpp"

namespace px {

EngineEnd make_engine_end(EngineId id, std::string_view host, std::string_view why) {
  EngineEnd end{std::to_string(id.value), std::string(why)};
  if (!host.empty()) end.engine += " on " + std::string(host);
  return end;
}

std::string death_sentence(const EngineEnd& end, std::string_view msg_id) {
  return "Engine " + end.engine + " died while running task '" + std::string(msg_id) + "'" +
         (end.why.empty() ? "" : ": " + end.why);
}

}  // namespace px
