#pragma once

#include <cstddef>
#include <string_view>

#include "wire/error.hpp"
#include "wire/frames.hpp"

namespace px {

/// The frame that ends the routing part of a message (protocol 3.1).
inline constexpr std::string_view delimiter = "<IDS|MSG>";

/// Where the parts of a message lie in its frames:
/// `[ident]* "<IDS|MSG>" signature header parent_header metadata content [buffer]*`.
/// Views into the frames; they must outlive it. Nothing in it is verified or parsed yet.
struct Envelope {
  std::size_t ident_count = 0;  ///< Frames 0 .. ident_count-1 are routing.
  std::string_view signature;
  std::string_view header;
  std::string_view parent_header;
  std::string_view metadata;
  std::string_view content;
  std::size_t first_buffer = 0;  ///< Frames from here to the end are buffers, maybe none.

  std::size_t delimiter_index() const { return ident_count; }

  /// Finds the parts. Looks for the delimiter in the first `max_idents` + 1 frames only.
  /// errors  bad_input: no delimiter there, or fewer than five frames behind it.
  static Result<Envelope> locate(const Frames& frames, std::size_t max_idents = 16);
};

}  // namespace px
