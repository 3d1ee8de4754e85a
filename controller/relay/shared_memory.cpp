#include "controller/relay/shared_memory.hpp"

#include <algorithm>
#include <utility>

#include "os/segments/segment.hpp"
#include "os/segments/segment_frames.hpp"
#include "os/segments/segment_space.hpp"
#include "wire/envelope.hpp"

namespace px::controller {
namespace {

constexpr Duration between_cleanings = std::chrono::seconds(5);
/// Of one message. A copy of more would hold up other messages, and take as much of the host.
constexpr std::size_t most_copied = std::size_t{8} << 20;
/// So long a message that names a segment may be on its way.
constexpr Duration longest_way = std::chrono::seconds(10);

const os::SegmentFrames* mapped(const SharedFrames& frames) {
  return dynamic_cast<const os::SegmentFrames*>(frames.get());
}

}  // namespace

SharedMemory::SharedMemory(std::shared_ptr<const os::SegmentFolder> folder)
    : folder_(std::move(folder)), next_cleaning_(Clock::now() + between_cleanings) {}

SharedFrames SharedMemory::whole(const SharedFrames& frames, Packer packer) const {
  if (!folder_) return frames;
  const Result<Envelope> envelope = Envelope::locate(*frames);
  if (!envelope || !os::may_name_segments(*frames, envelope->first_buffer)) return frames;
  const auto indexes = os::segment_indexes(packer, envelope->metadata);
  auto whole = os::SegmentFrames::map(frames, envelope->first_buffer, indexes, folder_);
  if (!whole) return frames;
  const auto& names = (*whole)->names();
  const bool is_in_memory = !std::all_of(names.begin(), names.end(), [this](const auto& name) {
    return folder_->is_on_disk(name);
  });
  const bool is_small = (*whole)->segment_bytes() <= most_copied;
  if (is_in_memory && is_small && os::is_short(folder_->descriptor())) return (*whole)->copied();
  return std::move(*whole);
}

SharedFrames SharedMemory::for_engine(const SharedFrames& whole, std::string_view uuid) const {
  const os::SegmentFrames* const frames = mapped(whole);
  // Where it is copied, its sender may be gone with what it names.
  return frames && !frames->is_copied() && folder_->has(uuid) ? frames->named() : whole;
}

SharedFrames SharedMemory::as_it_came(const SharedFrames& whole) {
  const os::SegmentFrames* const frames = mapped(whole);
  return frames ? frames->named() : whole;
}

void SharedMemory::drop(const SharedFrames& whole) const {
  if (const os::SegmentFrames* const frames = mapped(whole))
    for (const std::string& name : frames->names()) folder_->remove(name);
}

void SharedMemory::on_time(Instant now) {
  if (!folder_ || now < next_cleaning_) return;
  next_cleaning_ = now + between_cleanings;
  folder_->remove_left(longest_way);
}

std::optional<Instant> SharedMemory::next_deadline() const {
  return folder_ ? std::optional(next_cleaning_) : std::nullopt;
}

}  // namespace px::controller
