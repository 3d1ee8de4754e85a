#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "client/requests/own_process.hpp"
#include "os/process_mark.hpp"
#include "wire/shared_bytes.hpp"
#include "wire/time.hpp"

namespace px::bindings {

/// Knows when the memory that was sent without a copy is needed no more: when the caller may
/// change his arrays again.
class SendTracker : public std::enable_shared_from_this<SendTracker> {
 public:
  /// The same bytes; counted as in use until the last copy of the result is gone.
  SharedBytes track(SharedBytes bytes);
  /// False when `deadline` passed first. Throws in a forked child.
  bool wait(Instant deadline) const;

 private:
  void let_go();
  mutable std::mutex mutex_;
  const client::OwnProcess process_;
  mutable os::Condition changed_;
  std::size_t in_use_ = 0;
};

}  // namespace px::bindings
