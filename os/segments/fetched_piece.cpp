#include "os/segments/fetched_piece.hpp"

#include "os/segments/piece_members.hpp"
#include "wire/checked_json.hpp"
#include "wire/json_scan.hpp"

namespace px::os {
std::string with_held(std::string metadata, const HeldBuffers& held) {
  Json buffers = Json::array();
  for (const HeldBuffers::Buffer& buffer : held.buffers)
    buffers.push_back({{"index", buffer.index}, {"bytes", buffer.bytes}});
  const Json said{{"name", held.name}, {"buffers", std::move(buffers)}};
  return with_member(std::move(metadata), "held", said.dump());
}

std::optional<HeldBuffers> read_held(Packer packer, std::string_view metadata) {
  const Json said = packed_member(packer, metadata, "held");
  if (!said.is_object()) return std::nullopt;
  HeldBuffers held{string_member(said, "name").value_or(""), {}};
  const auto buffers = said.find("buffers");
  if (held.name.empty() || buffers == said.end() || !buffers->is_array()) return std::nullopt;
  for (const Json& buffer : *buffers) {
    const auto index = size_member(buffer, "index"), bytes = size_member(buffer, "bytes");
    if (!index || !bytes || *bytes == 0) return std::nullopt;
    held.buffers.push_back({*index, *bytes});
  }
  if (held.buffers.empty()) return std::nullopt;
  return held;
}

std::string write_fetched_piece(const FetchedPiece& piece) {
  if (piece.is_release) return pack(Packer::json, Json{{"name", piece.name}, {"release", true}});
  return pack(Packer::json, Json{{"name", piece.name},
                                 {"index", piece.index},
                                 {"offset", piece.offset},
                                 {"length", piece.length}});
}

Result<FetchedPiece> read_fetched_piece(const Json& content) {
  FetchedPiece piece;
  piece.name = string_member(content, "name").value_or("");
  if (piece.name.empty()) return without_usable(fetch_request_type, "name");
  piece.is_release = bool_member(content, "release").value_or(false);
  if (piece.is_release) return piece;
  const auto index = size_member(content, "index"), offset = size_member(content, "offset"),
             length = size_member(content, "length");
  if (!index) return without_usable(fetch_request_type, "index");
  if (!offset) return without_usable(fetch_request_type, "offset");
  if (!length || *length == 0 || *length > longest_fetched_piece)
    return without_usable(fetch_request_type, "length");
  piece.index = *index;
  piece.offset = *offset;
  piece.length = *length;
  return piece;
}

std::string with_fetching(std::string metadata, bool is_far) {
  return with_member(std::move(metadata), "fetches", is_far ? "\"far\"" : "\"near\"");
}

std::optional<bool> read_fetching(Packer packer, std::string_view metadata) {
  const Json said = packed_member(packer, metadata, "fetches");
  if (said == "far") return true;
  if (said == "near") return false;
  return std::nullopt;
}

}  // namespace px::os
