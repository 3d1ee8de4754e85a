#pragma once

#include <memory>
#include <string_view>

#include "os/segments/segment_folder.hpp"
#include "wire/frames.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The shared memory of the cluster's processes on this host: large buffers of messages lie there
/// and do not come here. The I/O thread owns it.
class SharedMemoryDesk {
 public:
  /// folder  null: there is none, nobody uses it.
  explicit SharedMemoryDesk(std::shared_ptr<const os::SegmentFolder> folder);

  /// The message with the bytes that it names, mapped and not read: for what is kept of it here.
  /// Copied where shared memory is short and they are few. As it is where it names none, or what it
  /// names is gone.
  SharedFrames whole(const SharedFrames& frames, Packer packer) const;
  /// What to send to this engine of a message that whole() returned: names where the engine shares
  /// memory, bytes where it does not.
  SharedFrames for_engine(const SharedFrames& whole, std::string_view uuid) const;
  /// The message as it came: for clients.
  static SharedFrames as_it_came(const SharedFrames& whole);
  /// Nobody else gets this message: removes what it names.
  void drop(const SharedFrames& whole) const;

  /// Removes what dead processes left.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  const std::shared_ptr<const os::SegmentFolder> folder_;
  Instant next_cleaning_;
};

}  // namespace px::controller
