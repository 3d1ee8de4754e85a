#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "os/segments/fetched_piece.hpp"
#include "wire/error.hpp"
#include "wire/shared_bytes.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// The large buffers of results, until their clients on other hosts have fetched them. Uses no
/// socket and no clock. The main thread adds buffers, the I/O thread serves them.
class HeldResults {
 public:
  /// Removes the buffers of at least `least_held_bytes`, if their sum is large enough, and leaves
  /// empty ones in their places. Nothing if it is not.
  std::optional<os::HeldBuffers> take(std::vector<SharedBytes>& buffers, Instant now);
  /// errors  not_found: the result was released or forgotten, or there is no such buffer;
  ///         bad_input: the piece is not inside the buffer.
  Result<SharedBytes> read(const os::FetchedPiece& piece, Instant now);
  void release(const std::string& name);

  /// Forgets results of which no piece was requested for two minutes.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

  static constexpr std::uint64_t least_held_bytes = std::uint64_t{256} << 10;
  static constexpr std::uint64_t least_held_together = std::uint64_t{1} << 20;
  static constexpr Duration patience = std::chrono::minutes(2);

 private:
  struct HeldResult {
    std::map<std::size_t, SharedBytes> buffers;
    Instant touched{};
  };
  mutable std::mutex mutex_;
  std::map<std::string, HeldResult> held_;
  std::uint64_t count_ = 0;
};

}  // namespace px::engine
