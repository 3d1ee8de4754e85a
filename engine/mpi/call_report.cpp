#include "engine/mpi/call_report.hpp"

#include <chrono>

namespace px::engine {

Json describe(const std::optional<MpiCall>& call, Instant now) {
  if (!call) return nullptr;
  const std::chrono::duration<double> age = now - call->began;
  Json said{{"call", call->name}, {"seconds", age.count()}};
  if (call->communicator != 0) said["communicator"] = call->communicator;
  if (call->size != MpiCall::none) said["size"] = call->size;
  const auto add = [&said](const char* key, int number) {
    if (number != MpiCall::none) said[key] = number == MpiCall::any ? Json("any") : Json(number);
  };
  add("peer", call->peer);
  add("tag", call->tag);
  return said;
}

}  // namespace px::engine
