#pragma once

#include <cstddef>
#include <string>

#include "jupyter/channels.hpp"
#include "jupyter/kernel_connection.hpp"

namespace px::jupyter {

/// The five sockets at which Jupyter's clients reach this process: a kernel, or an engine that was
/// bound as one. Shell, control, stdin and the heartbeat are ROUTER sockets; iopub is an XPUB that
/// greets each subscriber with iopub_welcome. Heartbeats are echoed here, on the I/O thread, so
/// that they are answered while user code runs. The I/O thread owns it.
///
/// A client that reads iopub slowly makes send() return false once 64 publications wait for it, and
/// the threads that print wait in turn. One that is not there any more is found out by pings of the
/// transport (TCP only) within half a minute and waited for no longer.
class ListeningChannels final : public Channels {
 public:
  /// Creates the sockets and has `loop` watch them; nothing can come before listen().
  /// session   signs with the key of `connection`.
  /// handlers  get what comes in; see ChannelHandlers.
  /// peer      the number that the requests get which come in here: see ReplyFormats.
  ListeningChannels(net::Context& context, net::Loop& loop, const KernelConnection& connection,
                    Session session, ChannelHandlers handlers, std::size_t peer = 0);
  ~ListeningChannels() override;

  /// Binds all five; call it once.  Returns the connection with the ports that were bound: a free
  /// one where it had 0. Over ipc the ports are the ends of the sockets' paths: they stay.
  /// errors  system: an address is in use; names it.
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
  MessageId last_question_;  // to a user: an input_reply to an earlier one is dropped
  net::Socket shell_, control_, input_, iopub_, heart_;
};

}  // namespace px::jupyter
