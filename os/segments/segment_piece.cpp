#include "os/segments/segment_piece.hpp"

#include <optional>

#include "os/segments/segment.hpp"

namespace px::os {
namespace {

/// Sizes of files fit.
std::optional<std::uint64_t> size_member(const Json& content, std::string_view key) {
  const auto number = int_member(content, key);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

Error malformed(std::string_view key) {
  return {ErrorKind::bad_input,
          "a " + std::string(segment_request_type) + " has no usable '" + std::string(key) + "'"};
}

}  // namespace

std::string write_segment_piece(const SegmentPiece& piece) {
  if (piece.is_release)
    return pack(Packer::json, Json{{"segment", piece.segment}, {"release", true}});
  Json content{{"segment", piece.segment},
               {"size", piece.size},
               {"piece", piece.number},
               {"offset", piece.offset}};
  if (piece.wants_answer) content["answer"] = true;
  return pack(Packer::json, content);
}

Result<SegmentPiece> read_segment_piece(const Json& content) {
  SegmentPiece piece;
  piece.segment = string_member(content, "segment").value_or("");
  if (!is_segment_name(piece.segment)) return malformed("segment");
  piece.is_release = bool_member(content, "release").value_or(false);
  piece.wants_answer = bool_member(content, "answer").value_or(false);
  if (piece.is_release) return piece;
  const auto size = size_member(content, "size"), number = size_member(content, "piece"),
             offset = size_member(content, "offset");
  if (!size || *size == 0) return malformed("size");
  if (!number) return malformed("piece");
  if (!offset || *offset >= *size) return malformed("offset");
  piece.size = *size;
  piece.number = *number;
  piece.offset = *offset;
  return piece;
}

}  // namespace px::os
