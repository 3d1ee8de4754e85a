#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jupyter/outgoing_queue.hpp"
#include "net/loop.hpp"
#include "net/socket.hpp"
#include "wire/session.hpp"

namespace px::jupyter {

/// The sockets by which clients reach us, and the key of the messages there. The I/O thread owns
/// it. ListeningChannels bind (a kernel), the engine's own dial out (an engine).
class Channels {
 public:
  virtual ~Channels() = default;
  /// Numbers, signs and sends it. False: the clients have to read first, nothing was sent.
  virtual bool send(Outgoing& message) = 0;
};

/// What comes in by channels: called on the I/O thread.
struct ChannelHandlers {
  std::function<void(RequestPtr)> on_request;
  std::function<void(const Error&)> on_rejected;   ///< Not signed with our key, malformed.
  std::function<void(std::string)> on_input = {};  ///< What a user typed, when asked.
};

/// The frames of the message behind `idents`, with this header, signed.
std::vector<std::string> compose(const Session& session, const Header& header,
                                 const Outgoing& message, std::vector<std::string> idents);

/// Sends `head` and behind it the message's buffers, uncopied. False as for Socket::send().
bool send_with_buffers(net::Socket& socket, const std::vector<std::string>& head,
                       const std::vector<SharedBytes>& buffers);

/// Lets `handle` have what `socket` receives, a bounded number of messages in a turn of the loop.
/// Both outlive the watching.
void watch_arrivals(net::Loop& loop, net::Socket& socket, std::function<void(SharedFrames)> handle);

}  // namespace px::jupyter
