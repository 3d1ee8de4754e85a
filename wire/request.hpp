#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wire/envelope.hpp"
#include "wire/error.hpp"
#include "wire/frames.hpp"
#include "wire/header.hpp"
#include "wire/json.hpp"
#include "wire/replay_history.hpp"
#include "wire/signature.hpp"

namespace px {

/// By which way a request came: work in order, or orders that pass it.
enum class Channel { shell, control };

/// A verified request. Immutable, so that any thread may read it.
struct Request {
  Channel channel = Channel::shell;
  std::size_t socket = 0;  ///< Which of our sockets it came from: the reply goes back there.
  std::size_t peer = 0;    ///< Which set of channels that socket belongs to, where there are many.
  SharedFrames frames;
  Envelope envelope;  ///< Views into `frames`.
  Header header;
  Packer packer = Packer::json;  ///< How its parts are packed, and those of its reply.

  const std::string& type() const { return header.msg_type; }
  /// The frames in front of the delimiter; they are echoed in front of the reply.
  std::vector<std::string> idents() const;
};

using RequestPtr = std::shared_ptr<const Request>;

/// Checks what comes in, signature first, and rewrites what speaks an old protocol: its header
/// stays in the frames as it came, as replies repeat it. One thread owns it.
class RequestReader {
 public:
  /// peer  that of the requests that it reads.
  RequestReader(Signer signer, Packer packer, std::size_t peer = 0)
      : signer_(std::move(signer)), packer_(packer), peer_(peer) {}

  /// errors  bad_input: too few frames, not signed with our key, seen before, or no header.
  Result<RequestPtr> read(Channel channel, std::size_t socket, SharedFrames frames);
  /// Whether the last read() failed as this very message has been read before.
  bool was_repeat() const { return was_repeat_; }

 private:
  Signer signer_;
  Packer packer_;
  std::size_t peer_;
  ReplayHistory history_;
  bool was_repeat_ = false;
};

}  // namespace px
