#include "wire/pieces.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "wire/checked_json.hpp"
#include "wire/json.hpp"
#include "wire/json_scan.hpp"

namespace px {
namespace {

std::size_t size_of_piece(std::size_t bytes) {
  return std::max(piece_bytes, (bytes + most_pieces - 1) / most_pieces);
}

/// An empty buffer is one frame, too.
std::size_t pieces_of(std::size_t bytes) {
  const std::size_t piece = size_of_piece(bytes);
  return std::max<std::size_t>(1, (bytes + piece - 1) / piece);
}

SharedBytes joined(const SharedBytes* first, std::size_t count) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) size += first[i].bytes.size();
  const std::shared_ptr<char[]> memory = std::make_shared_for_overwrite<char[]>(size);
  char* to = memory.get();
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to, first[i].bytes.data(), first[i].bytes.size());
    to += first[i].bytes.size();
  }
  return {std::string_view(memory.get(), size), memory};
}

}  // namespace

Pieces cut_pieces(std::string content, std::vector<SharedBytes> buffers) {
  const auto is_large = [](const SharedBytes& each) { return pieces_of(each.bytes.size()) > 1; };
  if (std::none_of(buffers.begin(), buffers.end(), is_large))
    return {std::move(content), std::move(buffers)};
  Json counts = Json::array();
  std::vector<SharedBytes> frames;
  for (const SharedBytes& buffer : buffers) {
    const std::size_t size = buffer.bytes.size(), piece = size_of_piece(size);
    counts.push_back(pieces_of(size));
    for (std::size_t at = 0; at == 0 || at < size; at += piece)
      frames.push_back({buffer.bytes.substr(at, piece), buffer.owner});
  }
  return {with_member(std::move(content), "pieces", counts.dump()), std::move(frames)};
}

std::vector<SharedBytes> join_pieces(std::string_view content, std::vector<SharedBytes> frames) {
  if (frames.size() < 2) return frames;  // nothing was cut
  const Json counts = packed_member(Packer::json, content, "pieces");
  if (!counts.is_array()) return frames;
  std::vector<SharedBytes> buffers;
  std::size_t at = 0;
  for (const Json& count : counts) {
    const auto pieces = read_integer<std::size_t>(count);
    if (!pieces || *pieces == 0 || *pieces > frames.size() - at) return frames;
    buffers.push_back(*pieces == 1 ? frames[at] : joined(&frames[at], *pieces));
    at += *pieces;
  }
  if (at != frames.size()) return frames;
  return buffers;
}

}  // namespace px
