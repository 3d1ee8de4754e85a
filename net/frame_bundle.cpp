#include "net/frame_bundle.hpp"

namespace px::net {
namespace {

constexpr std::string_view mark = "<PX|BUNDLE>";

/// Four bytes, the lowest first.
constexpr std::size_t length_size = 4;

std::size_t read_length(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = length_size; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length;
}

}  // namespace

bool FrameBundle::has_room(std::size_t size, std::size_t frame_size) {
  return frame_size <= longest_frame && size + size_of(frame_size) <= longest;
}

std::size_t FrameBundle::empty_size() {
  return mark.size();
}

std::size_t FrameBundle::size_of(std::size_t frame_size) {
  return length_size + frame_size;
}

FrameBundle::FrameBundle(char* place) : end_(place + mark.copy(place, mark.size())) {}

void FrameBundle::add(std::string_view frame) {
  for (std::size_t i = 0; i < length_size; ++i)
    *end_++ = static_cast<char>(frame.size() >> (8 * i) & 0xff);
  end_ += frame.copy(end_, frame.size());
}

bool FrameBundle::is_bundle(std::string_view frame) {
  return frame.starts_with(mark);
}

std::optional<std::vector<std::string_view>> FrameBundle::open(std::string_view bundle,
                                                               std::size_t most) {
  if (!is_bundle(bundle)) return std::nullopt;
  constexpr std::size_t typical_count = 10;
  std::vector<std::string_view> frames;
  frames.reserve(typical_count);
  for (std::string_view left = bundle.substr(mark.size()); !left.empty();) {
    if (left.size() < length_size || frames.size() == most) return std::nullopt;
    const std::size_t length = read_length(left);
    left.remove_prefix(length_size);
    if (length > left.size()) return std::nullopt;
    frames.push_back(left.substr(0, length));
    left.remove_prefix(length);
  }
  return frames;
}

}  // namespace px::net
