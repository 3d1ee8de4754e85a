#pragma once

#include <cstddef>
#include <string>

#include "jupyter/channels.hpp"
#include "jupyter/kernel_connection.hpp"

namespace px::jupyter {

/// The five sockets at which Jupyter's clients reach a kernel. The I/O thread owns it.
class ListeningChannels final : public Channels {
 public:
  /// The `socket` of the requests that come in here.
  static constexpr std::size_t socket_number = 1000;

  /// session  signs with the key of `connection`.
  ListeningChannels(net::Context& context, net::Loop& loop, const KernelConnection& connection,
                    Session session, ChannelHandlers handlers);
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
