#pragma once

#include <cstddef>
#include <string_view>

#include "wire/error.hpp"
#include "wire/frames.hpp"

namespace px {

/// The frame that separates the routing frames of a message from its content (protocol 3.1).
inline constexpr std::string_view delimiter = "<IDS|MSG>";

/// Where the parts of a message lie in its frames:
/// `[ident]* "<IDS|MSG>" signature header parent_header metadata content [buffer]*`.
/// The members are views into the frames, which must outlive them. Locating copies, verifies and
/// parses nothing: the signature is checked first (Signer::verify()), then the header is read.
struct Envelope {
  std::size_t ident_count = 0;  ///< Frames 0 .. ident_count-1 are routing frames.
  std::string_view signature;
  std::string_view header;
  std::string_view parent_header;
  std::string_view metadata;
  std::string_view content;
  std::size_t first_buffer = 0;  ///< The frames from here to the end are buffers, maybe none.

  /// The index of the delimiter frame: the part of a message that is passed on begins there.
  std::size_t delimiter_index() const { return ident_count; }

  /// Finds the parts. Looks for the delimiter in the first `max_idents` + 1 frames only, so that a
  /// message without one costs little.
  /// errors  bad_input: no delimiter there, or fewer than five frames behind it.
  static Result<Envelope> locate(const Frames& frames, std::size_t max_idents = 16);
};

}  // namespace px
