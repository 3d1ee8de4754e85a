#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace px {

/// The frames of one message, as ZeroMQ transports them. Immutable, so that several threads may
/// share and read them. It is an interface so that code without sockets can handle messages:
/// net::Socket returns frames that stay in libzmq's memory, os::SegmentFrames takes buffers from
/// shared memory, TextFrames holds strings. The controller passes frames on without copying them
/// and reads only the few small ones that it needs.
class Frames {
 public:
  virtual ~Frames() = default;
  /// The number of frames.
  virtual std::size_t size() const = 0;
  /// The bytes of one frame; valid as long as this object exists. Precondition: index < size().
  virtual std::string_view at(std::size_t index) const = 0;
  /// The number of its bytes that lie in shared memory of the sender. The sender reuses that memory
  /// when no process has it mapped any more, so frames that are held for long keep memory occupied.
  virtual std::size_t lent_bytes() const { return 0; }
  /// Whether the receiver has removed the names of the shared memory, which it does after it has
  /// mapped the bytes or if it does not need them. True for frames without shared memory.
  virtual bool is_taken() const { return true; }
};

/// Frames with shared ownership. Null only if a function says so.
using SharedFrames = std::shared_ptr<const Frames>;

/// Frames that own their bytes, one string for each: for messages that this process composes, and
/// for tests.
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

/// The sizes of all frames added up.
std::size_t total_bytes(const Frames& frames);

/// A copy of the frames in one piece of memory of exactly their size. Frames from a socket may keep
/// a whole receive buffer of libzmq alive; use this function for small messages that are kept for
/// some time.
SharedFrames compacted(const Frames& frames);

}  // namespace px
