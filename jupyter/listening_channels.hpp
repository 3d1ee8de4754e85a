#pragma once

#include <cstddef>
#include <string>

#include "jupyter/channels.hpp"
#include "jupyter/kernel_connection.hpp"

namespace px::jupyter {

/// The five sockets on which Jupyter's clients reach this process: a kernel, or an engine that was
/// bound as one. Shell, control, stdin and the heartbeat are ROUTER sockets; iopub is an XPUB that
/// sends each subscriber iopub_welcome. Heartbeats are echoed here, on the I/O thread, so that they
/// are answered while user code runs. The I/O thread owns it.
///
/// A client that reads iopub slowly makes send() return false once 64 publications wait for it, and
/// threads that print wait in this case. A client that has disappeared is detected by pings of the
/// transport (TCP only) within half a minute and is not awaited any longer.
class ListeningChannels final : public Channels {
 public:
  /// Creates the sockets and makes `loop` watch them; nothing can arrive before listen().
  /// session   signs with the key of `connection`.
  /// handlers  receive what arrives; see ChannelHandlers.
  /// peer      the peer number of the requests that arrive here: see ReplyFormats.
  ListeningChannels(net::Context& context, net::Loop& loop, const KernelConnection& connection,
                    Session session, ChannelHandlers handlers, std::size_t peer = 0);
  ~ListeningChannels() override;

  /// Binds all five; call it once. Returns the connection with the ports that were bound: a free
  /// one for each 0. With ipc the ports are the ends of the sockets' paths and do not change.
  /// errors  system: an address is in use; the message names it.
  Result<KernelConnection> listen(KernelConnection connection);

  bool send(Outgoing& message) override;

 private:
  void on_request(Channel channel, SharedFrames frames);
  void on_input(SharedFrames frames);
  void welcome_subscribers();
  std::vector<std::string> compose(const Outgoing& message);
  net::Socket& socket_for(const Outgoing& message);

  net::Loop& loop_;
  Session session_;
  RequestReader reader_;
  ChannelHandlers handlers_;
  MessageId last_question_;  // to a user: input_replies to earlier ones are dropped
  net::Socket shell_, control_, input_, iopub_, heart_;
};

}  // namespace px::jupyter
