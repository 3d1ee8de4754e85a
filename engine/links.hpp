#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <px/engine/outbox.hpp>
#include <px/net/loop.hpp>
#include <px/net/socket.hpp>
#include <px/wire/connection_info.hpp>
#include <px/wire/session.hpp>

namespace px {

/// The sockets of an engine (protocol 5.1). The I/O thread owns it.
class Links {
 public:
  struct Handlers {
    std::function<void(SharedFrames)> on_registration;
    std::function<void(Channel, std::size_t socket, SharedFrames)> on_request;
    std::function<void()> on_ping;        ///< The controller's heart was heard (and answered).
    std::function<void()> on_subscribed;  ///< Somebody listens to what is published.
  };

  Links(Context& context, Loop& loop, const EngineConnectionInfo& info, Session session,
        Handlers handlers);

  /// errors  bad_input: not an endpoint.
  Result<void> connect_registration();
  void send_registration(std::string_view type, const Json& content);
  /// errors  bad_input: not endpoints.
  Result<void> connect_work(EngineId id);
  /// Begins to answer hearts, which makes the hub publish this engine: call it last.
  Result<void> connect_heart();

  /// Numbers, signs and sends it.
  void send(const Outgoing& message);

 private:
  Socket make(SocketKind kind) const;
  Result<void> connect_upstream(int port, Channel channel);
  void watch_requests(Channel channel, std::size_t index);
  void answer_hearts();
  std::vector<std::string> compose(const Outgoing& message);

  Context& context_;
  Loop& loop_;
  EngineConnectionInfo info_;
  Session session_;
  Handlers handlers_;
  EngineId id_{-1};
  Socket registration_;
  std::vector<Socket> upstreams_;
  std::optional<Socket> iopub_, ping_, pong_;
};

}  // namespace px
