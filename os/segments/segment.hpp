#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/frames.hpp"
#include "wire/json.hpp"

namespace px::os {

// Large buffers between processes of one host are in files in shared memory, segments; the frame of
// such a buffer contains its position instead. The metadata, which is signed, lists these buffers:
// `"segments": [0, 2]`. A listed frame that is too long for a position is the buffer itself: the
// controller inserts it for receivers on other hosts.

/// Buffers of at least this size are put into segments.
inline constexpr std::size_t least_segment_bytes = std::size_t{256} << 10;

/// Mappings begin at a multiple of this.
inline constexpr std::size_t page_bytes = 4096;

/// The position of a buffer.
struct SegmentPart {
  std::string name;  ///< See is_segment_name().
  std::uint64_t offset = 0, length = 0;
};

/// The longest frame with a position.
inline constexpr std::size_t longest_segment_part = 255;

/// Whether this is a valid name of a process in names of segments: letters, digits, '_' and '-', at
/// most 80.
bool is_segment_owner(std::string_view text);
/// "OWNER.MAKER.NUMBER": the process that removes it, the process that has made it, and a number
/// that is used once.
std::string segment_name(std::string_view owner, std::string_view maker, std::uint64_t number);
bool is_segment_name(std::string_view text);
/// The first part of a name.
std::string_view owner_of_segment(std::string_view name);

/// The frame: "px-segment NAME OFFSET LENGTH".
std::string write_segment_part(const SegmentPart& part);
/// Nothing if it is not such a frame.
std::optional<SegmentPart> read_segment_part(std::string_view frame);

/// Whether a frame from `first_buffer` on looks like a position. If so, the caller reads the
/// metadata.
bool may_name_segments(const Frames& frames, std::size_t first_buffer);
/// The indexes of the buffers of a message that are in segments, from its packed metadata.
std::vector<std::size_t> segment_indexes(Packer packer, std::string_view metadata);
/// The metadata (a JSON object as text) of a message of which these buffers are in segments.
std::string with_segments(std::string metadata, const std::vector<std::size_t>& indexes);

}  // namespace px::os
