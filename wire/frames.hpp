#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace px {

/// The frames of one message, as they travel. Immutable, so that any thread may read them while
/// they are shared. The pure rooms pass them on and read only the few small ones that they need.
class Frames {
 public:
  virtual ~Frames() = default;
  virtual std::size_t size() const = 0;
  /// Precondition: index < size(). Valid as long as the Frames live.
  virtual std::string_view at(std::size_t index) const = 0;
  /// Of its bytes, those that lie in memory which its sender writes again when nobody has it
  /// mapped.
  virtual std::size_t lent_bytes() const { return 0; }
  /// Whether the receiver has taken these, or does not want them. True where it lends none.
  virtual bool is_taken() const { return true; }
};

using SharedFrames = std::shared_ptr<const Frames>;

/// Frames in strings of their own: messages that are made here, and those of tests.
class TextFrames final : public Frames {
 public:
  TextFrames() = default;
  explicit TextFrames(std::vector<std::string> frames) : frames_(std::move(frames)) {}
  TextFrames(std::initializer_list<std::string_view> frames)
      : frames_(frames.begin(), frames.end()) {}
  std::size_t size() const override { return frames_.size(); }
  std::string_view at(std::size_t index) const override { return frames_.at(index); }

 private:
  std::vector<std::string> frames_;
};

/// The bytes of all frames together.
std::size_t total_bytes(const Frames& frames);

/// The same frames in memory of their own and in one piece: frames that came from a socket keep a
/// whole receive buffer alive. For small messages, that somebody keeps.
SharedFrames compacted(const Frames& frames);

}  // namespace px
