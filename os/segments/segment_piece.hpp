#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::os {

// Large buffers for engines of another host go once to one engine there, in pieces: each is a
// `segment_request` with one buffer. It writes them into a segment, which the engines of that host
// share (docs/protocol.md, "Several hosts").

inline constexpr std::string_view segment_request_type = "segment_request";
inline constexpr std::string_view segment_reply_type = "segment_reply";

/// No piece is longer.
inline constexpr std::uint64_t longest_piece = std::uint64_t{1} << 20;

/// What ranks pass on to each other comes in pieces of this size, but for the last.
inline constexpr std::uint64_t passed_piece = std::uint64_t{512} << 10;

/// What the content of a segment_request says.
struct SegmentPiece {
  std::string segment;        ///< "OWNER.MAKER.NUMBER": the engine, the client, its count.
  std::uint64_t size = 0;     ///< Of the segment.
  std::uint64_t number = 0;   ///< Of the piece: they come in this order, from 0 on.
  std::uint64_t offset = 0;   ///< Where the piece begins in the segment.
  bool wants_answer = false;  ///< How many pieces, from the first one on, have come.
  bool is_release = false;    ///< No piece: nobody needs the segment's name any more.
  /// In the first piece: the ranks on other hosts that will ask this engine for the bytes over MPI.
  std::uint64_t takers = 0;
  /// No piece: the engine is to ask this rank of its world for the bytes, over MPI.
  std::optional<std::uint64_t> giver = {};
  std::string given_segment = {};  ///< The one that this rank fills.

  /// Whether the message has a buffer.
  bool has_bytes() const { return !is_release && !giver; }
};

/// The content as JSON text.
std::string write_segment_piece(const SegmentPiece& piece);
/// errors  bad_input: a member is missing or malformed; says which.
Result<SegmentPiece> read_segment_piece(const Json& content);

}  // namespace px::os
