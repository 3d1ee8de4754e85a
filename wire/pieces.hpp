#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "wire/shared_bytes.hpp"

namespace px {

// A large buffer of a native message travels as several frames. Encryption works on whole frames in
// memory that it takes anew for each: pieces that fit the processor's cache pass it more than twice
// as fast. Elsewhere it would cost a copy more than it gains. The content says so in the member
// `"pieces": [frames of buffer 0, of buffer 1, ...]`.

/// No frame of a buffer is larger than this, as long as there are at most `most_pieces`.
inline constexpr std::size_t piece_bytes = std::size_t{256} << 10;
inline constexpr std::size_t most_pieces = 4096;

/// The content and the buffers of a message as they travel.
struct Pieces {
  std::string content;
  std::vector<SharedBytes> buffers;
};
/// Cuts the large buffers. Copies nothing; unchanged where none is large.
/// content  a JSON object as text.
Pieces cut(std::string content, std::vector<SharedBytes> buffers);

/// The buffers as they were before cut(): those in pieces are copied into one each.
/// Frames that are not what `pieces` says come back as they are: who reads the values finds what is
/// missing.
std::vector<SharedBytes> join(std::string_view content, std::vector<SharedBytes> frames);

}  // namespace px
