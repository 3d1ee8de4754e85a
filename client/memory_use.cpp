#include "client/memory_use.hpp"

#include <algorithm>
#include <utility>

#include "client/byte_text.hpp"
#include "client/targets.hpp"
#include "wire/text.hpp"

namespace px::client {
namespace {

/// Segments of one host by what tells them apart there.
using Known = std::map<std::string, MemoryUse::Segment>;

/// engine  that has them mapped; none: the client.
void add_to(Known& known, const SharedMemoryUse::Segments& segments,
            const std::optional<EngineId>& engine) {
  for (const auto& [identity, bytes] : segments) {
    MemoryUse::Segment& segment = known[identity];
    segment.bytes = bytes;
    if (engine)
      segment.engines.push_back(*engine);
    else
      segment.has_client = true;
  }
}

std::vector<MemoryUse::Segment> largest_first(Known known) {
  std::vector<MemoryUse::Segment> segments;
  for (auto& [identity, segment] : known) segments.push_back(std::move(segment));
  std::stable_sort(segments.begin(), segments.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return segments;
}

std::string holders(const MemoryUse::Segment& segment) {
  if (segment.engines.empty()) return "this client";
  const std::string engines = say_engines(segment.engines);
  return segment.has_client ? engines + ", and this client" : engines;
}

std::uint64_t sum_of(const std::vector<MemoryUse::Segment>& segments) {
  std::uint64_t sum = 0;
  for (const MemoryUse::Segment& segment : segments) sum += segment.bytes;
  return sum;
}

Json as_json(const std::vector<MemoryUse::Segment>& segments) {
  Json rows = Json::array();
  for (const MemoryUse::Segment& segment : segments) {
    Json engines = Json::array();
    for (const EngineId id : segment.engines) engines.push_back(id.value);
    rows.push_back({{"bytes", segment.bytes},
                    {"engines", std::move(engines)},
                    {"client", segment.has_client}});
  }
  return rows;
}

/// "68.2 MB in arrays (engine 0: 1.0 MB; engines 0 and 1: 67.1 MB)"
std::string as_text(const std::vector<MemoryUse::Segment>& segments) {
  std::map<std::string, std::uint64_t> by_holders;
  for (const MemoryUse::Segment& segment : segments) by_holders[holders(segment)] += segment.bytes;
  const std::string held = join(by_holders, "; ", [](const auto& holder) {
    return holder.first + ": " + format_bytes(holder.second);
  });
  return format_bytes(sum_of(segments)) + " in arrays" + (held.empty() ? "" : " (" + held + ")");
}

}  // namespace

std::uint64_t MemoryUse::bytes() const {
  return sum_of(segments);
}

std::vector<MemoryUse> memory_use(const std::vector<EngineStatus>& engines, const Json& own) {
  std::map<std::string, MemoryUse> hosts;
  std::map<std::string, Known> in_memory, on_disk;
  const auto add = [&](const std::string& host, const SharedMemoryUse& memory,
                       std::optional<EngineId> engine) {
    MemoryUse& use = hosts[host];
    use.host = host;
    if (memory.size) {
      use.free = memory.free;
      use.size = memory.size;
    }
    add_to(in_memory[host], memory.segments, engine);
    add_to(on_disk[host], memory.on_disk, engine);
  };
  for (const EngineStatus& engine : engines)
    if (engine.shared_memory) add(engine.host, *engine.shared_memory, engine.id);
  const auto here = read_shared_memory(own);
  if (here && !(here->segments.empty() && here->on_disk.empty()))
    add(string_member(own, "hostname").value_or(""), *here, std::nullopt);
  std::vector<MemoryUse> all;
  for (auto& [host, use] : hosts) {
    use.segments = largest_first(std::move(in_memory[host]));
    use.on_disk = largest_first(std::move(on_disk[host]));
    all.push_back(std::move(use));
  }
  return all;
}

Json memory_as_json(const std::vector<MemoryUse>& hosts) {
  Json rows = Json::array();
  for (const MemoryUse& use : hosts)
    rows.push_back({{"host", use.host},
                    {"bytes", use.bytes()},
                    {"free", or_null(use.free)},
                    {"size", or_null(use.size)},
                    {"segments", as_json(use.segments)},
                    {"on_disk", as_json(use.on_disk)}});
  return rows;
}

std::string memory_as_text(const std::vector<MemoryUse>& hosts) {
  std::string text;
  for (const MemoryUse& use : hosts) {
    if (use.segments.empty() && use.on_disk.empty()) continue;
    text += "shared memory of " + (use.host.empty() ? "an unknown host" : use.host) + ": " +
            as_text(use.segments);
    if (use.size)
      text += ", " + format_bytes(static_cast<std::uint64_t>(*use.free)) + " of " +
              format_bytes(static_cast<std::uint64_t>(*use.size)) + " are free";
    if (!use.on_disk.empty()) text += "; in files on its disk " + as_text(use.on_disk);
    text += "\n";
  }
  return text;
}

}  // namespace px::client
