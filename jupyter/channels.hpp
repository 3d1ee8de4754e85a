#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jupyter/outgoing_queue.hpp"
#include "net/loop.hpp"
#include "net/socket.hpp"
#include "wire/session.hpp"

namespace px::jupyter {

/// The sockets by which one peer's clients reach this process, and the key that signs the messages
/// there. The I/O thread owns it. There are two kinds: ListeningChannels bind the five sockets of a
/// Jupyter kernel, and the engine's DialingChannels connect to the controller.
class Channels {
 public:
  virtual ~Channels() = default;
  /// Gives the message its msg_id, signs and sends it. Never waits.
  /// message  may keep its signed frames where nothing was sent: the next attempt then sends the
  ///          same msg_id and does not sign again.
  /// False: nothing was sent, as a client has to read first, or is known to be gone.
  virtual bool send(Outgoing& message) = 0;
};

/// Where channels deliver what comes in. All three are called on the I/O thread.
struct ChannelHandlers {
  std::function<void(RequestPtr)> on_request;      ///< A request whose signature was right.
  std::function<void(const Error&)> on_rejected;   ///< Not signed with our key, malformed.
  std::function<void(std::string)> on_input = {};  ///< What a user typed, when asked.
};

/// The frames of the message, signed: `idents`, the delimiter, the signature and the four packed
/// parts. The buffers are not among them: see send_with_buffers(). The parent_header is the header
/// of message.request, byte for byte if both are packed alike; without a request it is empty.
std::vector<std::string> compose(const Session& session, const Header& header,
                                 const Outgoing& message, std::vector<std::string> idents);

/// Sends `head` and behind it the message's buffers, uncopied: libzmq holds on to their owners
/// until the bytes are sent, and may release them on a thread of its own. False as for
/// Socket::send().
bool send_with_buffers(net::Socket& socket, const std::vector<std::string>& head,
                       const std::vector<SharedBytes>& buffers);

/// Calls `handle` on the loop's thread with each message that `socket` receives: at most 64 in a
/// turn of the loop, so that one busy socket does not delay the others.
/// loop, socket  live until the loop has forgotten the socket.
void watch_arrivals(net::Loop& loop, net::Socket& socket, std::function<void(SharedFrames)> handle);

}  // namespace px::jupyter
