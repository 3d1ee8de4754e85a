#pragma once

#include <functional>
#include <string>
#include <vector>

#include <px/kernel/connection.hpp>
#include <px/kernel/outbox.hpp>
#include <px/net/loop.hpp>
#include <px/net/socket.hpp>
#include <px/wire/session.hpp>

namespace px::kernel {

/// The five sockets of a kernel. The I/O thread owns it.
class Links {
 public:
  struct Handlers {
    std::function<void(Channel, SharedFrames)> on_request;
    std::function<void(SharedFrames)> on_input;  ///< What a user typed.
  };

  Links(Context& context, Loop& loop, const KernelConnection& connection, Session session,
        Handlers handlers);

  /// errors  system: an address is in use; names it.
  Result<void> listen(const KernelConnection& connection);

  /// Numbers, signs and sends it. False: the clients have to read first, nothing was sent.
  bool send(Outgoing& message);
  /// The id of the last question to a user.
  const MessageId& last_question() const { return last_question_; }

 private:
  void welcome_subscribers();
  std::vector<std::string> compose(const Outgoing& message);
  Socket& socket_for(const Outgoing& message);

  Session session_;
  Handlers handlers_;
  MessageId last_question_;
  Socket shell_, control_, input_, iopub_, heart_;
};

}  // namespace px::kernel
