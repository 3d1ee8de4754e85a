#include "os/segments/segment_store.hpp"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "os/segments/segment_space.hpp"
#include "os/written_file.hpp"

namespace px::os {
namespace {

/// What nobody uses for so long is given back.
constexpr Duration idle_time = std::chrono::seconds(10);

}  // namespace

std::shared_ptr<SegmentStore> SegmentStore::make(std::shared_ptr<const SegmentFolder> folder,
                                                 std::string maker) {
  return std::shared_ptr<SegmentStore>(new SegmentStore(std::move(folder), std::move(maker)));
}

SegmentStore::~SegmentStore() {
  for (const StoredSegment& segment : free_) folder_->remove(segment.name);
}

std::optional<PlacedBuffers> SegmentStore::place(const std::vector<SharedBytes>& buffers) {
  const SegmentLayout layout = lay_out(buffers);
  std::optional<StoredSegment> segment = write(buffers, layout);
  if (!segment) return std::nullopt;
  PlacedBuffers placed{layout.named(buffers, segment->name), layout.indexes(), {}};
  auto held = std::make_unique<StoredSegment>(std::move(*segment));
  placed.hold =
      std::shared_ptr<const void>(held.release(), [store = weak_from_this()](const void* pointer) {
        const std::unique_ptr<StoredSegment> released{
            const_cast<StoredSegment*>(static_cast<const StoredSegment*>(pointer))};
        if (const auto alive = store.lock()) alive->give_back(std::move(*released));
      });
  return placed;
}

std::optional<PlacedBuffers> SegmentStore::place_for(std::string_view receiver,
                                                     const std::vector<SharedBytes>& buffers) {
  const SegmentLayout layout = lay_out(buffers);
  std::optional<StoredSegment> segment = write(buffers, layout);
  if (!segment) return std::nullopt;
  const std::optional<std::string> name = hand_over(std::move(*segment), receiver);
  if (!name) return std::nullopt;
  return PlacedBuffers{layout.named(buffers, *name), layout.indexes(), {}};
}

std::optional<SegmentStore::StoredSegment> SegmentStore::write(
    const std::vector<SharedBytes>& buffers, const SegmentLayout& layout) {
  if (layout.bytes == 0) return std::nullopt;
  std::optional<StoredSegment> segment = take_free(layout.bytes);
  if (!segment) segment = create(layout.bytes);
  if (!segment) return std::nullopt;
  if (fill(*segment, buffers, layout)) {
    placed_bytes_ += layout.bytes;
    return segment;
  }
  give_up(*segment);
  return std::nullopt;
}

/// The receiver's name for it. As long as it is there he may be on his way to map it.
std::optional<std::string> SegmentStore::hand_over(StoredSegment segment,
                                                   std::string_view receiver) {
  ::futimens(segment.file.value(), nullptr);  // young, however long ago its pages were made
  std::string name = new_name(receiver);
  if (may_keep(segment) && folder_->link(segment.name, name)) {
    give_back(std::move(segment));
    return name;
  }
  trim(Instant::max());  // where memory is short, none of it waits here
  if (rename(segment, receiver)) return segment.name;
  give_up(segment);
  return std::nullopt;
}

/// Others may need the memory more.
bool SegmentStore::may_keep(const StoredSegment& segment) const {
  const int folder = folder_->descriptor();
  if (segment.is_on_disk || is_short(folder) || why_no_room(folder, segment.size)) return false;
  const std::lock_guard lock{mutex_};
  return !is_closed_;
}

/// One that nobody has mapped or is about to map, under a new name: messages that still name the
/// old one find nothing.
std::optional<SegmentStore::StoredSegment> SegmentStore::take_free(std::size_t bytes) {
  trim(Clock::now());
  const std::lock_guard lock{mutex_};
  for (auto segment = free_.begin(); segment != free_.end(); ++segment) {
    if (segment->size < bytes || segment->size / 2 > bytes) continue;
    const int file = segment->file.value();
    struct stat found{};
    if (::fstat(file, &found) != 0 || found.st_nlink > 1) continue;  // a receiver's name is there
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) continue;
    StoredSegment taken = std::move(*segment);
    free_.erase(segment);
    const bool is_ours = ::fstat(file, &found) == 0 && (found.st_mode & 0200) != 0;
    if (is_ours && rename(taken, maker_)) {
      if (!taken.is_on_disk && !taken.memory.is_mapped())
        taken.memory = WrittenSegment{file, taken.size};
      return taken;
    }
    folder_->remove(taken.name);
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<SegmentStore::StoredSegment> SegmentStore::create(std::size_t bytes) {
  if (next_deadline() && why_no_room(folder_->descriptor(), bytes))
    trim(Instant::max());  // what waits here takes room
  std::string name = new_name(maker_);
  Result<SegmentFolder::NewSegment> made = folder_->make(name, bytes);
  if (!made) {
    complain("large arrays take the slower way through sockets: " + made.error().what);
    return std::nullopt;
  }
  // The lock keeps it when somebody takes this process for dead.
  if (::flock(made->file.value(), LOCK_EX | LOCK_NB) != 0) {
    complain(std::string("large arrays take the slower way through sockets, as files in shared "
                         "memory cannot be locked: ") +
             std::strerror(errno));
    return std::nullopt;
  }
  StoredSegment segment;
  segment.name = std::move(name);
  segment.size = bytes;
  segment.file = std::move(made->file);
  segment.is_on_disk = !made->why_on_disk.empty();
  if (segment.is_on_disk)
    complain("large arrays take the slower way through files in " + folder_->disk()->name().folder +
             ": " + made->why_on_disk);
  return segment;
}

bool SegmentStore::fill(StoredSegment& segment, const std::vector<SharedBytes>& buffers,
                        const SegmentLayout& layout) {
  for (const SegmentLayout::BufferPlace& part : layout.parts) {
    const std::string_view bytes = buffers[part.buffer].bytes;
    if (segment.memory.is_mapped())
      segment.memory.write(part.offset, bytes);
    else if (!write_at(segment.file.value(), part.offset, bytes))
      return false;
  }
  return ::flock(segment.file.value(), LOCK_UN) == 0;
}

std::string SegmentStore::new_name(std::string_view owner) {
  return segment_name(owner, maker_, ++count_);
}

bool SegmentStore::rename(StoredSegment& segment, std::string_view owner) {
  std::string name = new_name(owner);
  if (!folder_->rename(segment.name, name)) return false;
  segment.name = std::move(name);
  return true;
}

void SegmentStore::give_back(StoredSegment segment) {
  const std::lock_guard lock{mutex_};
  if (is_closed_) return;
  segment.free_since = Clock::now();
  free_.push_back(std::move(segment));
}

/// It could not be written; errno says why.
void SegmentStore::give_up(const StoredSegment& segment) {
  complain(std::string("large arrays take the slower way through sockets, as shared memory cannot "
                       "be written: ") +
           std::strerror(errno));
  folder_->remove(segment.name);
}

void SegmentStore::complain(std::string sentence) {
  const std::lock_guard lock{mutex_};
  if (!std::exchange(has_complained_, true)) complaint_ = std::move(sentence);
}

std::optional<std::string> SegmentStore::take_complaint() {
  const std::lock_guard lock{mutex_};
  return std::exchange(complaint_, std::nullopt);
}

void SegmentStore::trim(Instant now) {
  const std::lock_guard lock{mutex_};
  std::erase_if(free_, [&](const StoredSegment& segment) {
    const bool is_old = now - segment.free_since >= idle_time;
    if (is_old) folder_->remove(segment.name);
    return is_old;
  });
}

std::optional<Instant> SegmentStore::next_deadline() const {
  const std::lock_guard lock{mutex_};
  if (free_.empty()) return std::nullopt;
  return free_.front().free_since + idle_time;
}

void SegmentStore::close() {
  const std::lock_guard lock{mutex_};
  is_closed_ = true;
}

}  // namespace px::os
