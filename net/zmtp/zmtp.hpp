#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/frames.hpp"

namespace px::net {

// The framing of ZMTP 3.0 (rfc.zeromq.org/spec/23) with its mechanism NULL: what libzmq speaks over
// Unix sockets. Bytes in, messages out; no socket and no thread.

/// Frames whose bytes live as long as somebody holds them: they came from a socket.
class HeldFrames : public Frames, public std::enable_shared_from_this<HeldFrames> {};

/// What both sides send first.
std::string zmtp_greeting();
/// The end of the handshake.
/// socket_type  "DEALER" or "ROUTER".
std::string zmtp_ready(std::string_view socket_type, std::string_view identity);

/// What a peer says of itself in its READY.
struct ZmtpPeer {
  std::string socket_type, identity;
};

/// Takes apart what comes over one connection.
class ZmtpDecoder {
 public:
  /// max_frame_bytes  a longer frame is an error; -1 = any.
  /// max_frames       a message of more is dropped and counted.
  /// on_peer          called at its READY, before its first message: whether it is wanted.
  ZmtpDecoder(std::int64_t max_frame_bytes, std::size_t max_frames,
              std::function<bool(const ZmtpPeer&)> on_peer)
      : max_frame_bytes_(max_frame_bytes), max_frames_(max_frames), on_peer_(std::move(on_peer)) {}

  /// Where the next bytes belong, if it is known: the rest of a long frame. Who reads them there
  /// calls filled(), and saves a copy.
  std::span<char> target();
  void filled(std::size_t bytes);
  /// All other bytes. False: they are not ZMTP, or a frame is too long; nothing must follow.
  bool feed(std::string_view bytes);

  /// Each message that comes from here on begins with this frame.
  void set_first_frame(std::string frame) { first_frame_ = std::move(frame); }
  /// The other end's READY has come.
  bool is_open() const { return is_open_; }
  /// The next whole message; null where there is none.
  SharedFrames take();
  /// What a PING asks to be sent; empty where none came.
  std::string take_pong() { return std::exchange(pong_, {}); }
  /// How many messages were dropped since the last call.
  std::uint64_t take_dropped() { return std::exchange(dropped_, 0); }

 private:
  class Message;
  enum class Step { greeting, head, body };
  struct Part {
    std::size_t offset, size;           // in text_
    std::unique_ptr<char[]> long_bytes;  // a long frame has its own memory
  };

  bool take_greeting();
  bool take_head();
  bool end_frame();
  bool take_command();
  void end_message();

  const std::int64_t max_frame_bytes_;
  const std::size_t max_frames_;
  const std::function<bool(const ZmtpPeer&)> on_peer_;
  Step step_ = Step::greeting;
  std::string head_;  // of the greeting or the frame, so far
  std::string first_frame_;
  bool is_open_ = false;
  std::string pong_;
  std::uint64_t dropped_ = 0;

  bool is_more_ = false, is_command_ = false;  // the present frame
  std::size_t missing_ = 0;                    // of it
  std::string text_;                           // the short frames of the present message
  std::vector<Part> parts_;                    // its frames so far
  std::size_t frame_count_ = 0;                // of them, those dropped included
  std::deque<SharedFrames> messages_;
};

/// One message on its way out.
class ZmtpMessage {
 public:
  ZmtpMessage() = default;
  /// What is no message, but goes between two: a greeting, a command.
  explicit ZmtpMessage(std::string bytes) : text_(std::move(bytes)), size_(text_.size()) {}

  /// Bytes that are copied.
  void add(std::string_view frame, bool more);
  /// Bytes that stay where they are until the message is destroyed.
  void add(std::string_view frame, bool more, std::shared_ptr<const void> owner);
  /// Held until the message is destroyed.
  void hold(std::shared_ptr<const void> token) { token_ = std::move(token); }

  std::size_t size() const { return size_; }

 private:
  friend class ZmtpQueue;
  struct Reference {
    std::size_t at;  // behind so many bytes of text_
    std::string_view bytes;
    std::shared_ptr<const void> owner;
  };
  void add_head(std::size_t size, bool more);

  std::string text_;  // heads and copied frames
  std::vector<Reference> references_;
  std::shared_ptr<const void> token_;
  std::size_t size_ = 0;
};

/// What waits to be written to one connection.
class ZmtpQueue {
 public:
  void push(ZmtpMessage message);
  bool is_empty() const { return messages_.empty(); }
  std::size_t bytes() const { return bytes_; }

  /// What comes next, at most so many pieces; valid until written() or push().
  std::vector<std::string_view> pieces(std::size_t most) const;
  /// So many bytes of them are gone.
  void written(std::size_t bytes);
  /// The connection ended: what was begun cannot be gone on with.
  void drop_begun();

 private:
  std::deque<ZmtpMessage> messages_;
  std::size_t bytes_ = 0, begun_ = 0;  // of the first message is written
};

}  // namespace px::net
