#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "wire/shared_bytes.hpp"

namespace px {

// A large buffer of a native message is sent as several frames if its connection may be encrypted
// (may_be_encrypted()). libzmq encrypts each frame as a whole into newly allocated memory: pieces
// that fit into the processor's cache are encrypted more than twice as fast. On unencrypted
// connections cutting would only cost a copy at the receiver. The content says how to join the
// buffers, in the member `"pieces": [frames of buffer 0, frames of buffer 1, ...]`.

/// The size of a piece in bytes. A buffer of more than most_pieces times this size is cut into
/// most_pieces larger ones.
inline constexpr std::size_t piece_bytes = std::size_t{256} << 10;
inline constexpr std::size_t most_pieces = 4096;

/// The content, as JSON text, and the buffers of a message as they are sent, i.e. one for each
/// frame.
struct Pieces {
  std::string content;
  std::vector<SharedBytes> buffers;
};
/// Cuts the buffers that are longer than a piece. Copies nothing: the pieces share the memory of
/// their buffer. Returns its arguments unchanged if no buffer is long enough.
/// content  a JSON object as text; gets the member "pieces".
Pieces cut_pieces(std::string content, std::vector<SharedBytes> buffers);

/// The inverse of cut_pieces(): copies the pieces of each cut buffer into one, and shares the
/// others. If the frames do not match "pieces", or there is no such member, they are returned
/// unchanged; read_value() reports missing buffers later.
std::vector<SharedBytes> join_pieces(std::string_view content, std::vector<SharedBytes> frames);

}  // namespace px
