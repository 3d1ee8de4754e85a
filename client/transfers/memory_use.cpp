#include "client/transfers/memory_use.hpp"

#include <algorithm>
#include <utility>

#include "client/checkpoints/checkpoint.hpp"
#include "client/targets.hpp"

namespace px::client {
namespace {

/// The segments of one host by what tells them apart there.
using Known = std::map<std::string, MemoryUse::Segment>;

std::vector<MemoryUse::Segment> largest_first(Known known) {
  std::vector<MemoryUse::Segment> segments;
  for (auto& [identity, segment] : known) segments.push_back(std::move(segment));
  std::stable_sort(segments.begin(), segments.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return segments;
}

std::string holders(const MemoryUse::Segment& segment) {
  if (segment.engines.empty()) return "this client";
  const std::string engines =
      (segment.engines.size() == 1 ? "engine " : "engines ") + name_engines(segment.engines);
  return segment.has_client ? engines + ", and this client" : engines;
}

}  // namespace

std::uint64_t MemoryUse::bytes() const {
  std::uint64_t sum = 0;
  for (const Segment& segment : segments) sum += segment.bytes;
  return sum;
}

std::vector<MemoryUse> memory_use(const std::vector<EngineStatus>& engines, const Json& own) {
  std::map<std::string, MemoryUse> hosts;
  std::map<std::string, Known> segments;
  const auto add = [&](const std::string& host, const SharedMemoryUse& memory,
                       std::optional<EngineId> engine) {
    MemoryUse& use = hosts[host];
    use.host = host;
    if (memory.size) {
      use.free = memory.free;
      use.size = memory.size;
    }
    for (const auto& [identity, bytes] : memory.segments) {
      MemoryUse::Segment& segment = segments[host][identity];
      segment.bytes = bytes;
      if (engine)
        segment.engines.push_back(*engine);
      else
        segment.has_client = true;
    }
  };
  for (const EngineStatus& engine : engines)
    if (engine.shared_memory) add(engine.host, *engine.shared_memory, engine.id);
  const auto here = read_shared_memory(own);
  if (here && !here->segments.empty())
    add(string_member(own, "hostname").value_or(""), *here, std::nullopt);
  std::vector<MemoryUse> all;
  for (auto& [host, use] : hosts) {
    use.segments = largest_first(std::move(segments[host]));
    all.push_back(std::move(use));
  }
  return all;
}

Json memory_as_json(const std::vector<MemoryUse>& hosts) {
  Json rows = Json::array();
  for (const MemoryUse& use : hosts) {
    Json segments = Json::array();
    for (const MemoryUse::Segment& segment : use.segments) {
      Json engines = Json::array();
      for (const EngineId id : segment.engines) engines.push_back(id.value);
      segments.push_back({{"bytes", segment.bytes},
                          {"engines", std::move(engines)},
                          {"client", segment.has_client}});
    }
    rows.push_back({{"host", use.host},
                    {"bytes", use.bytes()},
                    {"free", use.free ? Json(*use.free) : Json()},
                    {"size", use.size ? Json(*use.size) : Json()},
                    {"segments", std::move(segments)}});
  }
  return rows;
}

std::string memory_as_text(const std::vector<MemoryUse>& hosts) {
  std::string text;
  for (const MemoryUse& use : hosts) {
    if (use.segments.empty()) continue;
    std::map<std::string, std::uint64_t> by_holders;
    for (const MemoryUse::Segment& segment : use.segments)
      by_holders[holders(segment)] += segment.bytes;
    std::string held;
    for (const auto& [who, bytes] : by_holders)
      held += (held.empty() ? "" : "; ") + who + ": " + format_bytes(bytes);
    text += "shared memory of " + (use.host.empty() ? "an unknown host" : use.host) + ": " +
            format_bytes(use.bytes()) + " in arrays (" + held + ")";
    if (use.size)
      text += ", " + format_bytes(static_cast<std::uint64_t>(*use.free)) + " of " +
              format_bytes(static_cast<std::uint64_t>(*use.size)) + " are free";
    text += "\n";
  }
  return text;
}

}  // namespace px::client
