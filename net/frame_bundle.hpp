#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace px::net {

/// Packs several short frames of a message into one frame, between programs that both support it:
/// libzmq queues and encrypts each frame separately, which takes longer than what it does for a
/// hundred bytes. The layout is in docs/protocol.md, "Bundles"; the reasons are in decision 29.
/// Socket makes and opens bundles; its callers see only the plain frames.
///
/// A bundle is written into memory that the caller provides:
///   std::size_t size = empty_size();
///   for (frame : frames) size += size_of(frame.size());   // while has_room(size, ...)
///   FrameBundle bundle{place};                            // `size` bytes
///   for (frame : frames) bundle.add(frame);
class FrameBundle {
 public:
  /// A longer frame is sent separately: copying it into a bundle would take longer than sending one
  /// more frame.
  static constexpr std::size_t longest_frame = 8 << 10;
  /// The most bytes of a bundle.
  static constexpr std::size_t longest = 64 << 10;

  /// Whether a frame of this size may be added to a bundle that has `size` bytes so far.
  static bool has_room(std::size_t size, std::size_t frame_size);
  /// The size of a bundle without frames.
  static std::size_t empty_size();
  /// The number of bytes that a frame of this size adds to a bundle.
  static std::size_t size_of(std::size_t frame_size);

  /// Begins a bundle at `place`, which has the sum of the sizes that the functions above return.
  explicit FrameBundle(char* place);
  /// Copies the frame to the end of the bundle.
  void add(std::string_view frame);

  /// Whether a received frame begins like a bundle.
  static bool is_bundle(std::string_view frame);
  /// The frames of a bundle, as views into its bytes. Nothing if it is not a bundle, ends within a
  /// frame, or has more than `most` frames.
  static std::optional<std::vector<std::string_view>> open(std::string_view bundle,
                                                           std::size_t most);

 private:
  char* end_;
};

}  // namespace px::net
