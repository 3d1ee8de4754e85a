#include "client/transfers/shipping.hpp"

#include <memory>
#include <utility>

#include "client/transfers/shipment.hpp"

namespace px::client {
namespace {

using Shipments = std::map<std::string, std::shared_ptr<Shipment>>;

/// Lets the first of those whose receivers are ranks of one MPI world pass the buffers on to the
/// others.
void pass_on(const Shipments& by_memory, const std::map<std::string, std::string>& groups) {
  std::map<std::string, std::shared_ptr<Shipment>> givers;
  for (const auto& [memory, shipment] : by_memory) {
    const std::string& group = groups.at(memory);
    if (group.empty() || shipment->ranks.size() != shipment->receivers.size()) {
      shipment->ranks.clear();
      continue;
    }
    std::shared_ptr<Shipment>& giver = givers[group];
    if (!giver) {
      giver = shipment;
      continue;
    }
    shipment->giver = giver;
    ++giver->takers;
  }
}

}  // namespace

std::map<std::string, RequestBody> ship(const RequestBody& body, const std::vector<EngineId>& ids,
                                        const EngineDirectory& engines) {
  std::map<std::string, RequestBody> shipped;
  const os::SegmentLayout layout = os::lay_out(body.buffers);
  if (layout.bytes < least_shipped_bytes) return shipped;
  Shipments by_memory;
  std::map<std::string, std::string> groups;  // by memory; empty: of several groups
  for (const EngineId id : ids) {
    const std::string memory = engines.memory_of(id);
    const auto uuid = engines.uuid_of(id);
    if (memory.empty() || !uuid) continue;
    std::shared_ptr<Shipment>& shipment = by_memory[memory];
    if (!shipment) shipment = std::make_shared<Shipment>(Shipment{{}, body.buffers, layout});
    shipment->receivers.push_back(*uuid);
    const auto passing = engines.passing_of(id);
    std::string& group = groups.try_emplace(memory, passing ? passing->group : "").first->second;
    if (!passing || passing->group != group) group.clear();
    if (passing) shipment->ranks.push_back(passing->rank);
  }
  pass_on(by_memory, groups);
  for (auto& [memory, shipment] : by_memory) {
    RequestBody through_it = body;
    through_it.in_segments = layout.indexes();
    through_it.shipment = std::move(shipment);
    shipped.emplace(memory, std::move(through_it));
  }
  return shipped;
}

}  // namespace px::client
