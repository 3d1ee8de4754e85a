#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "os/process_mark.hpp"
#include "wire/time.hpp"

namespace px::bindings {

/// Tokens of calls that are answered, on their way from the I/O threads, which never wait for
/// Python, to the Python threads that tell whoever asked for it.
class Notices {
 public:
  /// Any thread.
  void put(std::uint64_t token);
  /// Nothing is taken any more.
  void close();
  bool is_closed() const;

  /// All tokens that came; waits for the first one until `deadline`. Empty: none came, or closed.
  std::vector<std::uint64_t> take(Instant deadline);

 private:
  mutable std::mutex mutex_;
  os::Condition changed_;
  std::vector<std::uint64_t> tokens_;
  bool is_closed_ = false;
};

}  // namespace px::bindings
