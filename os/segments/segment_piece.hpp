#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::os {

// Large buffers for engines of another host are sent once to one engine there, in pieces: each is a
// `segment_request` with one buffer. The engine writes them into a segment, which the engines of
// that host share (docs/protocol.md, "Several hosts").

inline constexpr std::string_view segment_request_type = "segment_request";
inline constexpr std::string_view segment_reply_type = "segment_reply";

/// The longest piece.
inline constexpr std::uint64_t longest_piece = std::uint64_t{1} << 20;

/// Ranks send each other pieces of this size, except for the last.
inline constexpr std::uint64_t passed_piece = std::uint64_t{512} << 10;

/// The content of a segment_request.
struct SegmentPiece {
  std::string segment;        ///< "OWNER.MAKER.NUMBER": the engine, the client, its count.
  std::uint64_t size = 0;     ///< Of the segment.
  std::uint64_t number = 0;   ///< Of the piece: they arrive in this order, from 0 on.
  std::uint64_t offset = 0;   ///< The position of the piece in the segment.
  bool wants_answer = false;  ///< The answer must give the number of pieces, from the first one on,
                              ///< that have arrived.
  bool is_release = false;    ///< No piece: the segment's name is no longer needed.
  /// In the first piece: the ranks on other hosts that will ask this engine for the bytes over MPI.
  std::uint64_t takers = 0;
  /// No piece: the engine must request the bytes from this rank of its world, over MPI.
  std::optional<std::uint64_t> giver = {};
  std::string given_segment = {};  ///< The one that this rank fills.

  /// Whether the message has a buffer.
  bool has_bytes() const { return !is_release && !giver; }
};

/// The content as JSON text.
std::string write_segment_piece(const SegmentPiece& piece);
/// errors  bad_input: a member is missing or malformed; the message says which.
Result<SegmentPiece> read_segment_piece(const Json& content);

}  // namespace px::os
