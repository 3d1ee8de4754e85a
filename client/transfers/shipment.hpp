#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "os/segments/segment_layout.hpp"
#include "wire/ids.hpp"
#include "wire/shared_bytes.hpp"

namespace px::client {

/// Large buffers that several engines of one other host get together, as these share memory: they
/// travel to that host once. Shared by the requests to these engines, which are one request for
/// each or one broadcast. Made by ship(), carried out by HostTransfers.
struct Shipment {
  /// The engines of the host that get a request with these buffers.
  std::vector<EngineUuid> receivers;
  std::vector<SharedBytes> buffers;
  os::SegmentLayout layout;  ///< Where each buffer lies in the segment.
  /// The MPI ranks of the receivers, in their order, if all engines of this and the other shipments
  /// of the same buffers are ranks of one MPI world that can pass the buffers on. Otherwise empty.
  std::vector<Rank> ranks = {};
  /// The shipment to another host whose relay passes the buffers on to this one over MPI; null:
  /// they come from the client.
  std::shared_ptr<const Shipment> giver = {};
  std::uint64_t takers = 0;  ///< To how many other shipments this one passes them on.
};

/// How far the transfers of large buffers to and from other hosts are. Counts from the time when
/// nothing was under way; for progress bars.
struct TransferProgress {
  std::uint64_t done = 0, total = 0;  ///< Bytes; both 0: nothing is under way.
};

/// The least bytes in large buffers for which a shipment is made: fewer are not worth the
/// additional round trip.
inline constexpr std::uint64_t least_shipped_bytes = std::uint64_t{1} << 20;

}  // namespace px::client
