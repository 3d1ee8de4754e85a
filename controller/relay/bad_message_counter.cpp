#include "controller/relay/bad_message_counter.hpp"

#include <spdlog/spdlog.h>

namespace px::controller {

void BadMessageCounter::add(std::string_view kind, std::string_view detail) {
  auto found = tallies_.find(kind);
  if (found == tallies_.end()) found = tallies_.emplace(std::string(kind), Tally{}).first;
  Tally& tally = found->second;
  if (++tally.count < tally.next_logged) return;
  tally.next_logged *= 10;
  spdlog::warn("dropped a message ({} so far): {}{}{}", tally.count, kind,
               detail.empty() ? "" : ": ", detail);
}

std::uint64_t BadMessageCounter::total() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, tally] : tallies_) sum += tally.count;
  return sum;
}

}  // namespace px::controller
