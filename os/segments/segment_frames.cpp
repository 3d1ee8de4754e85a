#include "os/segments/segment_frames.hpp"

#include <algorithm>

namespace px::os {

Result<std::shared_ptr<const SegmentFrames>> SegmentFrames::map(
    const SharedFrames& named, std::size_t first_buffer, const std::vector<std::size_t>& indexes,
    const std::shared_ptr<const SegmentFolder>& folder) {
  auto frames = std::make_shared<SegmentFrames>();
  frames->named_ = named;
  frames->folder_ = folder;
  for (const std::size_t index : indexes) {
    if (index >= named->size() - first_buffer)
      return Error{ErrorKind::bad_input, "a message names a buffer that it does not have"};
    const std::size_t at = first_buffer + index;
    const std::string_view frame = named->at(at);
    if (frame.size() > longest_segment_part) continue;  // the controller has put the bytes in
    const auto part = read_segment_part(frame);
    if (!part)
      return Error{ErrorKind::bad_input,
                   "a message has a malformed name of a shared memory segment"};
    if (!folder)
      return Error{ErrorKind::unsupported,
                   "a message was sent through shared memory that this process does not have"};
    auto known = std::find(frames->names_.begin(), frames->names_.end(), part->name);
    if (known == frames->names_.end()) {
      auto segment = MappedSegment::map(*folder, part->name);
      if (!segment) return segment.error();
      frames->segments_.push_back(std::move(*segment));
      known = frames->names_.insert(known, part->name);
    }
    const auto bytes =
        frames->segments_[known - frames->names_.begin()]->part(part->offset, part->length);
    if (!bytes) return bytes.error();
    frames->bytes_[at] = *bytes;
  }
  return std::shared_ptr<const SegmentFrames>(std::move(frames));
}

std::shared_ptr<const SegmentFrames> SegmentFrames::copied() const {
  auto frames = std::make_shared<SegmentFrames>();
  frames->named_ = named_;
  frames->names_ = names_;
  for (const auto& [index, bytes] : bytes_)
    frames->bytes_[index] = frames->copies_.emplace_back(bytes);
  return frames;
}

std::size_t SegmentFrames::segment_bytes() const {
  std::size_t sum = 0;
  for (const auto& [index, bytes] : bytes_) sum += bytes.size();
  return sum;
}

bool SegmentFrames::is_taken() const {
  const auto folder = folder_.lock();
  return !folder || std::none_of(names_.begin(), names_.end(),
                                 [&](const std::string& name) { return folder->has_name(name); });
}

std::string_view SegmentFrames::at(std::size_t index) const {
  const auto found = bytes_.find(index);
  return found == bytes_.end() ? named_->at(index) : found->second;
}

}  // namespace px::os
