#include "os/segments/segment_piece.hpp"

#include "os/segments/piece_members.hpp"
#include "os/segments/segment.hpp"

namespace px::os {

std::string write_segment_piece(const SegmentPiece& piece) {
  if (piece.is_release)
    return pack(Packer::json, Json{{"segment", piece.segment}, {"release", true}});
  if (piece.giver)
    return pack(Packer::json,
                Json{{"segment", piece.segment},
                     {"size", piece.size},
                     {"from", {{"rank", *piece.giver}, {"segment", piece.given_segment}}}});
  Json content{{"segment", piece.segment},
               {"size", piece.size},
               {"piece", piece.number},
               {"offset", piece.offset}};
  if (piece.wants_answer) content["answer"] = true;
  if (piece.takers > 0) content["takers"] = piece.takers;
  return pack(Packer::json, content);
}

Result<SegmentPiece> read_segment_piece(const Json& content) {
  SegmentPiece piece;
  piece.segment = string_member(content, "segment").value_or("");
  if (!is_segment_name(piece.segment)) return without_usable(segment_request_type, "segment");
  piece.is_release = bool_member(content, "release").value_or(false);
  piece.wants_answer = bool_member(content, "answer").value_or(false);
  if (piece.is_release) return piece;
  const auto size = size_member(content, "size"), number = size_member(content, "piece"),
             offset = size_member(content, "offset");
  if (!size || *size == 0) return without_usable(segment_request_type, "size");
  if (const auto from = content.find("from"); from != content.end()) {
    piece.size = *size;
    piece.giver = size_member(*from, "rank");
    piece.given_segment = string_member(*from, "segment").value_or("");
    if (!piece.giver || !is_segment_name(piece.given_segment))
      return without_usable(segment_request_type, "from");
    return piece;
  }
  if (!number) return without_usable(segment_request_type, "piece");
  if (!offset || *offset >= *size) return without_usable(segment_request_type, "offset");
  piece.size = *size;
  piece.number = *number;
  piece.offset = *offset;
  piece.takers = size_member(content, "takers").value_or(0);
  return piece;
}

}  // namespace px::os
