#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jupyter/outgoing_queue.hpp"
#include "net/loop.hpp"
#include "net/socket.hpp"
#include "wire/session.hpp"

namespace px::jupyter {

/// The sockets through which one peer's clients reach this process, and the key that signs their
/// messages. The I/O thread owns it. There are two kinds: ListeningChannels bind the five sockets
/// of a Jupyter kernel, and the engine's DialingChannels connect to the controller.
class Channels {
 public:
  virtual ~Channels() = default;
  /// Gives the message its msg_id, signs and sends it. Never waits.
  /// message  may keep its signed frames if it was not sent: the next attempt uses the same msg_id
  ///          and does not sign again.
  /// False: it was not sent, because a client must read first, or is known to be gone.
  virtual bool send(Outgoing& message) = 0;
};

/// The functions to which channels pass what arrives. All three are called on the I/O thread.
struct ChannelHandlers {
  std::function<void(RequestPtr)> on_request;      ///< A request with a right signature.
  std::function<void(const Error&)> on_rejected;   ///< Not signed with our key, or malformed.
  std::function<void(std::string)> on_input = {};  ///< The input that a user typed on request.
};

/// The frames of the message, signed: `idents`, the delimiter, the signature and the four packed
/// parts. They do not include the buffers: see send_with_buffers(). The parent_header is the header
/// of message.request, byte for byte if both are packed alike; without a request it is empty.
std::vector<std::string> compose(const Session& session, const Header& header,
                                 const Outgoing& message, std::vector<std::string> idents);

/// Sends `head` followed by the message's buffers, uncopied: libzmq holds their owners until the
/// bytes are sent, and may release them on one of its threads. False as for Socket::send().
bool send_with_buffers(net::Socket& socket, const std::vector<std::string>& head,
                       const std::vector<SharedBytes>& buffers);

/// Calls `handle` on the loop's thread with each message that `socket` receives: at most 64 in a
/// turn of the loop, so that one busy socket does not delay the others.
/// loop, socket  must exist until the loop has forgotten the socket.
void watch_arrivals(net::Loop& loop, net::Socket& socket, std::function<void(SharedFrames)> handle);

}  // namespace px::jupyter
