#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "os/segments/segment_layout.hpp"
#include "wire/ids.hpp"
#include "wire/shared_bytes.hpp"

namespace px::client {

/// Large buffers that several engines of one other host get at the same time. These engines share
/// memory, so the buffers travel to that host once. The requests to these engines (one for each
/// engine, or one broadcast) share the shipment. ship() makes a Shipment, and HostTransfers carries
/// it out.
struct Shipment {
  /// The engines of the host that get a request with these buffers.
  std::vector<EngineUuid> receivers;
  std::vector<SharedBytes> buffers;
  os::SegmentLayout layout;  ///< The position of each buffer in the segment.
  /// The MPI ranks of the receivers, in the same order. The list is empty unless all receivers are
  /// ranks of one MPI world that can pass the buffers on.
  std::vector<Rank> ranks = {};
  /// The shipment to the host whose relay passes the buffers on to this host over MPI; null if the
  /// client sends the buffers to this host.
  std::shared_ptr<const Shipment> giver = {};
  std::uint64_t takers = 0;  ///< The number of other shipments to which this one passes them on.
};

/// The progress of the transfers of large buffers to and from other hosts, for progress bars. The
/// numbers begin at 0 again whenever no transfer is in progress.
struct TransferProgress {
  std::uint64_t done = 0, total = 0;  ///< In bytes; both 0 if there is no transfer.
};

/// The least size of large buffers for which a shipment is made. For smaller buffers, the
/// additional round trip takes more time than the shipment saves.
inline constexpr std::uint64_t least_shipped_bytes = std::uint64_t{1} << 20;

}  // namespace px::client
