#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wire/envelope.hpp"
#include "wire/error.hpp"
#include "wire/frames.hpp"
#include "wire/header.hpp"
#include "wire/json.hpp"
#include "wire/replay_history.hpp"
#include "wire/signature.hpp"

namespace px {

/// The Jupyter channel on which a request arrived. Requests on `shell` run in their order; requests
/// on `control` (interrupt, abort, shutdown) are handled before the waiting ones.
enum class Channel { shell, control };

/// A request whose signature was verified and whose header was read. Immutable, so that any thread
/// may read it: the I/O thread makes it, the main thread runs it. Content and buffers are still
/// packed.
struct Request {
  Channel channel = Channel::shell;
  std::size_t socket = 0;  ///< Which of our sockets it arrived on; the reply is sent there.
  std::size_t peer = 0;    ///< The set of channels to which that socket belongs, if there are
                           ///< several.
  /// The message; in the current format if the sender used an old protocol.
  SharedFrames frames;
  Envelope envelope;  ///< Views into `frames`.
  Header header;
  Packer packer = Packer::json;  ///< How its parts are packed, and those of its reply.

  /// The message type, e.g. "execute_request".
  const std::string& type() const { return header.msg_type; }
  /// The routing frames before the delimiter, which a reply repeats.
  std::vector<std::string> idents() const;
};

using RequestPtr = std::shared_ptr<const Request>;

/// The engines on which the request runs at the same time: the member `gang` of its header; nothing
/// if it runs on one engine.
std::optional<Json> gang_in(const Request& request);

/// Turns arriving messages into Requests for an engine or a kernel: verifies the signature before
/// anything is parsed, drops repeats, and rewrites requests of an old protocol version in the
/// current form (see modernize()). The header of an old request stays in the frames unchanged,
/// because the reply repeats it as its parent header. One thread owns it.
class RequestReader {
 public:
  /// signer  with the cluster's, or the kernel's, key.
  /// packer  the one in the connection file.
  /// peer    becomes Request::peer of all requests that it reads.
  RequestReader(Signer signer, Packer packer, std::size_t peer = 0)
      : signer_(std::move(signer)), packer_(packer), peer_(peer) {}

  /// errors  bad_input: too few frames, not signed with our key, seen before (was_repeat()), or
  ///         without a readable header. The caller drops such a message; it must not end the
  ///         process.
  Result<RequestPtr> read(Channel channel, std::size_t socket, SharedFrames frames);
  /// Whether the last read() failed because this message was read before: senders repeat messages
  /// after a connection broke.
  bool was_repeat() const { return was_repeat_; }

 private:
  Signer signer_;
  Packer packer_;
  std::size_t peer_;
  ReplayHistory history_;
  bool was_repeat_ = false;
};

}  // namespace px
