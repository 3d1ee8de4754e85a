#pragma once

#include <memory>
#include <string_view>

#include "os/segments/segment_folder.hpp"
#include "wire/frames.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The shared memory of the cluster's processes on this host. A message may name a segment of it
/// instead of containing a large buffer, so that the buffer's bytes do not pass the controller.
/// This class maps the bytes of messages that are kept here (journal, records, the task queue), and
/// sends names to processes that share the memory and bytes to the others. The I/O thread owns it.
class SharedMemory {
 public:
  /// folder  null: there is no shared memory; messages are passed on unchanged in this case.
  explicit SharedMemory(std::shared_ptr<const os::SegmentFolder> folder);

  /// The message together with the bytes that it names, mapped and not read: for messages that are
  /// kept here. Copied if shared memory is short and they are few (8 MiB at most). Returns `frames`
  /// itself if it names no segment, or one that is gone.
  SharedFrames whole(const SharedFrames& frames, Packer packer) const;
  /// The form of a message that whole() returned for this engine: names if the engine shares
  /// memory, otherwise bytes.
  SharedFrames for_engine(const SharedFrames& whole, std::string_view uuid) const;
  /// The message in its original form, with its names: for clients.
  static SharedFrames as_it_came(const SharedFrames& whole);
  /// No process gets this message any more: removes the segments that it names.
  void drop(const SharedFrames& whole) const;

  /// Every 5 s: removes segments of processes that are gone, once no message that names them can be
  /// in transit any more.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  const std::shared_ptr<const os::SegmentFolder> folder_;
  Instant next_cleaning_;
};

}  // namespace px::controller
