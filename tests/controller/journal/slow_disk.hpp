#pragma once

#include <cstdint>
#include <optional>

#include "controller/journal/sync_thread.hpp"

namespace px::controller {

/// A disk that has what was written when a test says so, or fails.
class SlowDisk final : public JournalSync {
 public:
  void request(std::uint64_t number) override { requested_ = number; }
  std::uint64_t synced() const override { return synced_; }
  std::optional<Error> error() const override { return error_; }
  void finish() { synced_ = requested_; }
  void fail() { error_ = Error{ErrorKind::system, "Input/output error"}; }

 private:
  std::uint64_t requested_ = 0, synced_ = 0;
  std::optional<Error> error_;
};

}  // namespace px::controller
