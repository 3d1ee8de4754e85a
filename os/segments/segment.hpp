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

// Large buffers between processes of one host lie in files in shared memory, segments; what travels
// in a buffer's frame is then where it lies. The metadata, which is signed, names the buffers of
// which that is so: `"segments": [0, 2]`. A frame of these that is too long to name a place is the
// buffer itself: the controller puts it in for receivers elsewhere.

/// Buffers from this size on go through segments.
inline constexpr std::size_t least_segment_bytes = std::size_t{256} << 10;

/// What is mapped begins at a multiple of this.
inline constexpr std::size_t page_bytes = 4096;

/// Where a buffer lies.
struct SegmentPart {
  std::string name;  ///< See is_segment_name().
  std::uint64_t offset = 0, length = 0;
};

/// No frame that names a place is longer.
inline constexpr std::size_t longest_segment_part = 255;

/// Whether a process may be called so in names of segments: letters, digits, '_' and '-', at most
/// 80.
bool is_segment_owner(std::string_view text);
/// "OWNER.MAKER.NUMBER": who removes it, who has made it, and a number that is used once.
std::string segment_name(std::string_view owner, std::string_view maker, std::uint64_t number);
bool is_segment_name(std::string_view text);
/// The first part of a name.
std::string_view owner_of_segment(std::string_view name);

/// The frame: "px-segment NAME OFFSET LENGTH".
std::string write_segment_part(const SegmentPart& part);
/// Nothing where it is none.
std::optional<SegmentPart> read_segment_part(std::string_view frame);

/// Whether a frame from `first_buffer` on looks like a place. Who finds one reads the metadata.
bool may_name_segments(const Frames& frames, std::size_t first_buffer);
/// Which buffers of a message lie in segments, by its packed metadata.
std::vector<std::size_t> segment_indexes(Packer packer, std::string_view metadata);
/// The metadata (a JSON object as text) of a message of which these buffers do.
std::string with_segments(std::string metadata, const std::vector<std::size_t>& indexes);

}  // namespace px::os
