#pragma once

#include <atomic>
#include <cstdint>

#include "engine/mpi/call_form.hpp"

namespace px::engine {

/// Bytes of the user's data.
struct MpiBytes {
  std::uint64_t sent = 0, received = 0;
  bool operator==(const MpiBytes&) const = default;
};

/// The number of bytes that the main thread of a process has sent and received in MPI calls since
/// its start. The main thread adds, which costs about a nanosecond; any other thread reads.
///
/// It has no source file and contains only atomics, because the writer and the reader may be in
/// different shared objects of a process (see CallPlace). The writer's object owns it and exports
/// px_mpi_traffic(); the engine finds that with find_mpi_traffic().
class MpiTraffic {
 public:
  /// The writer.
  void add(const MpiBytes& bytes) noexcept {
    sent_.store(sent_.load(std::memory_order_relaxed) + bytes.sent, std::memory_order_relaxed);
    received_.store(received_.load(std::memory_order_relaxed) + bytes.received,
                    std::memory_order_relaxed);
  }
  /// Any thread. The two numbers may be of different moments.
  MpiBytes read() const noexcept {
    return {sent_.load(std::memory_order_relaxed), received_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<std::uint64_t> sent_ = 0, received_ = 0;
};

/// The bytes that one rank sends and receives in a collective call whose parts are equal: the
/// user's data, not the messages of MPI that transport them. Nothing for other calls, such as
/// MPI_Gatherv.
/// call     CallName::number.
/// part     bytes that each rank sends or receives.
/// is_root  whether the rank is the call's root.
/// ranks    the number of ranks of the communicator.
constexpr MpiBytes bytes_of_collective(std::uint32_t call, std::uint64_t part, bool is_root,
                                       std::uint64_t ranks) {
  const std::uint64_t of_all = part * ranks;
  switch (call) {
    case CallName{"MPI_Bcast"}.number:
      return is_root ? MpiBytes{part, 0} : MpiBytes{0, part};
    case CallName{"MPI_Reduce"}.number:
      return {part, is_root ? part : 0};
    case CallName{"MPI_Allreduce"}.number:
    case CallName{"MPI_Scan"}.number:
    case CallName{"MPI_Exscan"}.number:
      return {part, part};
    case CallName{"MPI_Reduce_scatter_block"}.number:
      return {of_all, part};
    case CallName{"MPI_Gather"}.number:
      return {part, is_root ? of_all : 0};
    case CallName{"MPI_Scatter"}.number:
      return {is_root ? of_all : 0, part};
    case CallName{"MPI_Allgather"}.number:
      return {part, of_all};
    case CallName{"MPI_Alltoall"}.number:
      return {of_all, of_all};
    default:
      return {};
  }
}

/// The MpiTraffic of this process, if one of its shared objects exports px_mpi_traffic(); otherwise
/// null. For readers; searches each time, because the library may be loaded late.
const MpiTraffic* find_mpi_traffic();

}  // namespace px::engine

/// Defined by the library that wraps the MPI library. Never null.
extern "C" __attribute__((visibility("default"))) px::engine::MpiTraffic* px_mpi_traffic();
