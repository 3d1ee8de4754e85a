#include "os/segments/segment_inflow.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "os/segments/segment.hpp"
#include "os/written_file.hpp"

namespace px::os {
namespace {

constexpr Duration between_cleanings = std::chrono::seconds(30);
/// So long a message that names a segment may be on its way.
constexpr Duration longest_way = std::chrono::seconds(10);
/// Whoever fills a segment, or needs its name, says something within this time.
constexpr Duration longest_silence = std::chrono::minutes(2);
/// More at once are no client's of ours.
constexpr std::size_t most_segments = 256;

Error not_writable(const std::string& why) {
  return {ErrorKind::system, "shared memory cannot be written: " + why};
}

}  // namespace

SegmentInflow::SegmentInflow(std::shared_ptr<const SegmentFolder> folder, std::string owner,
                             Instant now)
    : folder_(std::move(folder)),
      owner_(std::move(owner)),
      next_cleaning_(now + between_cleanings) {}

SegmentInflow::~SegmentInflow() {
  for (const auto& [name, segment] : segments_) folder_->remove(name);
}

Result<std::uint64_t> SegmentInflow::take(const SegmentPiece& piece, std::string_view bytes,
                                          Instant now) {
  auto found = segments_.find(piece.segment);
  if (found == segments_.end()) {
    if (piece.number != 0) return std::uint64_t{0};
    Result<IncomingSegment> made = create(piece);
    if (!made) return made.error();
    found = segments_.emplace(piece.segment, std::move(*made)).first;
  }
  IncomingSegment& segment = found->second;
  segment.touched = now;
  if (piece.size != segment.size || piece.offset > segment.size ||
      bytes.size() > segment.size - piece.offset || bytes.size() > longest_piece)
    return Error{ErrorKind::bad_input, "a piece does not lie in its shared memory segment"};
  if (piece.number != segment.pieces) return segment.pieces;
  if (!write_at(segment.file.value(), piece.offset, bytes)) {
    const std::string why = std::strerror(errno);
    release(piece.segment);
    return not_writable(why);
  }
  return ++segment.pieces;
}

Result<SegmentInflow::IncomingSegment> SegmentInflow::create(const SegmentPiece& piece) {
  if (!is_segment_name(piece.segment) || owner_of_segment(piece.segment) != owner_)
    return Error{ErrorKind::bad_input,
                 "the shared memory segment " + piece.segment + " is not this engine's"};
  if (segments_.size() >= most_segments)
    return Error{ErrorKind::overloaded, "too many shared memory segments are being filled"};
  Result<SegmentFolder::NewSegment> made = folder_->make(piece.segment, piece.size);
  if (!made) return made.error();
  IncomingSegment segment;
  segment.size = piece.size;
  segment.file = std::move(made->file);
  return segment;
}

void SegmentInflow::release(const std::string& segment) {
  if (segments_.erase(segment) > 0) folder_->remove(segment);
}

void SegmentInflow::on_time(Instant now) {
  if (now < next_cleaning_) return;
  next_cleaning_ = now + between_cleanings;
  std::erase_if(segments_, [&](const auto& entry) {
    const bool is_left = now - entry.second.touched >= longest_silence;
    if (is_left) folder_->remove(entry.first);
    return is_left;
  });
  folder_->remove_left(longest_way);
}

}  // namespace px::os
