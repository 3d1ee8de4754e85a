#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace px::net {

/// Several short frames of a message as one, between programs that both know of it: libzmq queues
/// and encrypts each frame by itself, which takes longer than what it does for a hundred bytes.
/// docs/protocol.md, "Bundles"; decision 29.
class FrameBundle {
 public:
  /// Of a longer frame a copy would take longer than one more frame does.
  static constexpr std::size_t longest_frame = 8 << 10;
  static constexpr std::size_t longest = 64 << 10;

  /// Whether a frame of this size has its place in a bundle of `size` bytes.
  static bool has_room(std::size_t size, std::size_t frame_size);
  /// The size of a bundle without any frame.
  static std::size_t empty_size();
  /// By how much a frame of this size makes a bundle longer.
  static std::size_t size_of(std::size_t frame_size);

  /// Writes a bundle to `place`, which has as many bytes as the functions above say.
  explicit FrameBundle(char* place);
  void add(std::string_view frame);

  static bool is_bundle(std::string_view frame);
  /// The frames of a bundle, within its bytes. Nothing where it is none, or has more than `most`.
  static std::optional<std::vector<std::string_view>> open(std::string_view bundle,
                                                           std::size_t most);

 private:
  char* end_;
};

}  // namespace px::net
