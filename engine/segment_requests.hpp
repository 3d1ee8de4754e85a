#pragma once

#include <memory>
#include <optional>
#include <string>

#include "os/segments/segment_inflow.hpp"
#include "wire/json.hpp"
#include "wire/request.hpp"

namespace px::engine {

/// Serves the pieces of arrays that come from another host, for all engines of this one. The I/O
/// thread owns it: pieces come in, whatever user code does.
class SegmentRequests {
 public:
  /// memory  null: this process shares none, and says so.
  SegmentRequests(std::shared_ptr<const os::SegmentFolder> memory, const std::string& name,
                  Instant now);

  /// The content of the answer; nothing where none is wanted.
  std::optional<Json> serve(const Request& request, Instant now);

  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  std::optional<os::SegmentInflow> inflow_;
};

}  // namespace px::engine
