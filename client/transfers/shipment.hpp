#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "os/segments/segment_layout.hpp"
#include "wire/ids.hpp"
#include "wire/shared_bytes.hpp"

namespace px::client {

/// The buffers of a request to engines of another host, whose memory these share: the large ones
/// go there once. Shared by the requests to these engines: one for each, or one broadcast.
struct Shipment {
  std::vector<EngineUuid> receivers;
  std::vector<SharedBytes> buffers;
  os::SegmentLayout layout;  ///< Of the buffers.
  /// Of the receivers, in their order, where they and those of other shipments of the same buffers
  /// are ranks of one MPI world that can pass them on. Empty: they cannot.
  std::vector<Rank> ranks = {};
  /// The shipment whose receivers pass the buffers on to these; null: they come from the client.
  std::shared_ptr<const Shipment> giver = {};
  std::uint64_t takers = 0;  ///< To so many other shipments do these receivers pass them on.
};

/// How far the buffers are that are on their way to other hosts or from there, since there was
/// nothing under way.
struct TransferProgress {
  std::uint64_t done = 0, total = 0;  ///< Bytes; both 0: nothing is under way.
};

/// Fewer bytes in large buffers are not worth the round trip more.
inline constexpr std::uint64_t least_shipped_bytes = std::uint64_t{1} << 20;

}  // namespace px::client
