#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/descriptor.hpp"
#include "os/segments/segment.hpp"
#include "os/segments/segment_folder.hpp"
#include "os/segments/segment_layout.hpp"
#include "os/segments/written_segment.hpp"
#include "wire/shared_bytes.hpp"
#include "wire/time.hpp"

namespace px::os {

/// The buffers of a message, the large ones in a segment.
struct PlacedBuffers {
  std::vector<SharedBytes> buffers;  ///< As they are sent.
  std::vector<std::size_t> indexes;  ///< Of those that are in the segment: see with_segments().
  /// As long as it exists the segment is not reused. Null: the receiver removes it.
  std::shared_ptr<const void> hold;
};

/// Writes large buffers into segments. Any thread may call it.
class SegmentStore : public std::enable_shared_from_this<SegmentStore> {
 public:
  /// maker  the name under which this process entered the folder.
  static std::shared_ptr<SegmentStore> make(std::shared_ptr<const SegmentFolder> folder,
                                            std::string maker);
  ~SegmentStore();

  const SegmentFolder& folder() const { return *folder_; }

  /// Copies the buffers of at least `least_segment_bytes` into one segment, which is reused when
  /// the hold and the receivers have released it. Nothing if no buffer is large enough, or if there
  /// is no room: see why_not().
  std::optional<PlacedBuffers> place(const std::vector<SharedBytes>& buffers);
  /// Like place(), for one receiver, under a name that it removes. The segment is reused when the
  /// receiver has done so and no process uses it, unless memory is short: in this case it is
  /// removed with that name.
  std::optional<PlacedBuffers> place_for(std::string_view receiver,
                                         const std::vector<SharedBytes>& buffers);

  /// The number of bytes of buffers that were written into segments so far.
  std::uint64_t placed_bytes() const { return placed_bytes_; }

  /// A sentence when there was no room for the first time, once.
  std::optional<std::string> take_complaint();

  /// Removes segments that were unused for some time.
  void trim(Instant now);
  /// When to call trim() next.
  std::optional<Instant> next_deadline() const;
  /// Segments that are held from now on are left to their readers.
  void close();

 private:
  struct StoredSegment {
    Descriptor file;
    std::string name;
    std::size_t size = 0;
    bool is_on_disk = false;
    WrittenSegment memory;  ///< Mapped from its second use on, except one on the disk.
    Instant free_since{};
  };

  SegmentStore(std::shared_ptr<const SegmentFolder> folder, std::string maker)
      : folder_(std::move(folder)), maker_(std::move(maker)) {}
  std::optional<StoredSegment> write(const std::vector<SharedBytes>& buffers,
                                     const SegmentLayout& layout);
  std::optional<std::string> hand_over(StoredSegment segment, std::string_view receiver);
  bool may_keep(const StoredSegment& segment) const;
  std::optional<StoredSegment> take_free(std::size_t bytes);
  std::optional<StoredSegment> create(std::size_t bytes);
  static bool fill(StoredSegment& segment, const std::vector<SharedBytes>& buffers,
                   const SegmentLayout& layout);
  std::string new_name(std::string_view owner);
  bool rename(StoredSegment& segment, std::string_view owner);
  void give_back(StoredSegment segment);
  void give_up(const StoredSegment& segment);
  void complain(std::string sentence);

  const std::shared_ptr<const SegmentFolder> folder_;
  const std::string maker_;
  std::atomic<std::uint64_t> count_ = 0, placed_bytes_ = 0;
  mutable std::mutex mutex_;
  std::vector<StoredSegment> free_;
  std::optional<std::string> complaint_;
  bool has_complained_ = false;
  bool is_closed_ = false;
};

}  // namespace px::os
