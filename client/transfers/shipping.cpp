#include "client/transfers/shipping.hpp"

#include <memory>
#include <utility>

namespace px::client {

std::map<std::string, Work> ship(const Work& work, const std::vector<EngineId>& ids,
                                 const EngineDirectory& engines) {
  std::map<std::string, Work> shipped;
  const os::SegmentLayout layout = os::lay_out(work.buffers);
  if (layout.bytes < least_shipped_bytes) return shipped;
  std::map<std::string, std::shared_ptr<Shipment>> by_memory;
  for (const EngineId id : ids) {
    const std::string memory = engines.memory_of(id);
    const auto uuid = engines.uuid_of(id);
    if (memory.empty() || !uuid) continue;
    std::shared_ptr<Shipment>& shipment = by_memory[memory];
    if (!shipment) shipment = std::make_shared<Shipment>(Shipment{{}, work.buffers, layout});
    shipment->receivers.push_back(*uuid);
  }
  for (auto& [memory, shipment] : by_memory) {
    Work through_it = work;
    through_it.in_segments = layout.indexes();
    through_it.shipment = std::move(shipment);
    shipped.emplace(memory, std::move(through_it));
  }
  return shipped;
}

}  // namespace px::client
