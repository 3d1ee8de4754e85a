#pragma once

#include <cstddef>
#include <string_view>

#include "wire/error.hpp"
#include "wire/frames.hpp"

namespace px {

/// The frame that separates the routing frames of a message from its content (protocol 3.1).
inline constexpr std::string_view delimiter = "<IDS|MSG>";

/// The positions of the parts of a message in its frames:
/// `[ident]* "<IDS|MSG>" signature header parent_header metadata content [buffer]*`.
/// The members are views into the frames, which must outlive them. Locating the parts does not
/// copy, verify or parse them: the signature is checked first (Signer::verify()), and the header is
/// read after that.
struct Envelope {
  std::size_t ident_count = 0;  ///< Frames 0 .. ident_count-1 are routing frames.
  std::string_view signature;
  std::string_view header;
  std::string_view parent_header;
  std::string_view metadata;
  std::string_view content;
  std::size_t first_buffer = 0;  ///< The frames from here to the end, possibly none, are buffers.

  /// The index of the delimiter frame, at which the part of a message that is passed on begins.
  std::size_t delimiter_index() const { return ident_count; }

  /// Finds the parts. Searches only the first `max_idents` + 1 frames for the delimiter, so that a
  /// message without one costs little.
  /// errors  bad_input: no delimiter among them, or fewer than five frames after it.
  static Result<Envelope> locate(const Frames& frames, std::size_t max_idents = 16);
};

}  // namespace px
