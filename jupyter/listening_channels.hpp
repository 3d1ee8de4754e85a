#pragma once

#include <cstddef>
#include <string>

#include "jupyter/channels.hpp"
#include "jupyter/kernel_connection.hpp"

namespace px::jupyter {

/// The five sockets at which Jupyter's clients reach us: a kernel, or an engine that somebody wants
/// to use as one. The I/O thread owns it.
class ListeningChannels final : public Channels {
 public:
  /// session  signs with the key of `connection`.
  /// peer     that of the requests that come in here.
  ListeningChannels(net::Context& context, net::Loop& loop, const KernelConnection& connection,
                    Session session, ChannelHandlers handlers, std::size_t peer = 0);
  ~ListeningChannels() override;

  /// Binds all five.  Returns the connection with the ports that were free where it had 0.
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
  MessageId last_question_;  // to a user
  net::Socket shell_, control_, input_, iopub_, heart_;
};

}  // namespace px::jupyter
