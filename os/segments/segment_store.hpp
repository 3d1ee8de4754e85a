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

/// Buffers of a message, the large ones in a segment.
struct PlacedBuffers {
  std::vector<SharedBytes> buffers;  ///< As they travel.
  std::vector<std::size_t> indexes;  ///< Of those that lie in the segment: see with_segments().
  /// As long as it lives the segment is not written again. Null: the receiver removes it.
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

  /// Copies the buffers of at least `least_segment_bytes` into one segment, which is used again
  /// when the hold and the receivers have let it go. Nothing where no buffer is so large, or where
  /// there is no room: see why_not().
  std::optional<PlacedBuffers> place(const std::vector<SharedBytes>& buffers);
  /// The same for one receiver, under a name of his that he removes. The segment is used again when
  /// he has done so and everybody has let it go, but where memory is short: there it goes with that
  /// name.
  std::optional<PlacedBuffers> place_for(std::string_view receiver,
                                         const std::vector<SharedBytes>& buffers);

  /// Bytes of buffers that were written into segments so far.
  std::uint64_t placed_bytes() const { return placed_bytes_; }

  /// A sentence at the first time that there was no room, once.
  std::optional<std::string> take_complaint();

  /// Removes what was not used for a while.
  void trim(Instant now);
  /// When to trim() next.
  std::optional<Instant> next_deadline() const;
  /// What is held from now on is left to those who shall read it.
  void close();

 private:
  struct StoredSegment {
    Descriptor file;
    std::string name;
    std::size_t size = 0;
    bool is_on_disk = false;
    WrittenSegment memory;  ///< Mapped from its second use on, but for one on the disk.
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
