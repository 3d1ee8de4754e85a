#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "controller/web/request_gate.hpp"
#include "controller/web/viewers.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::controller {

/// The content that a WebServer serves. All functions are called on the web thread.
struct WebContent {
  std::string token;                         ///< For the RequestGate.
  std::set<std::string> host_names = {};     ///< For the RequestGate.
  std::map<std::string, std::string> files;  ///< The files of the page, by their names.
  /// The newest snapshot as JSON, without a newline inside; empty: there is none yet. Called for
  /// each publish() while there are viewers, once for all of them.
  std::function<std::string()> snapshot;
  /// The text for Prometheus; empty: there is none yet.
  std::function<std::string(MetricsFormat)> metrics;
  /// The result of an order, in addition to its success: members of the answer. Made on the web
  /// thread, because it may be long. Null: none.
  using OrderNews = std::function<Json()>;
  /// Passes the order on; `answer` must be called with the result: later and from any thread, but
  /// not after the WebServer is destroyed.
  using Answer = std::function<void(Result<OrderNews>)>;
  std::function<void(EngineOrder, Answer answer)> pass_order;
};

/// The limits of the peers of a WebServer.
struct WebBounds {
  std::size_t connections = 128;  ///< At a time: further ones are closed at once.
  ViewerBounds viewers = {};
};

/// The HTTP server of the dashboard: a separate thread on which it accepts, reads, asks RequestGate
/// and Viewers, and writes. It limits the cost of peers: connections, header, body, time. The only
/// part that uses Boost.
///
/// GET /            the page
/// GET /stream      server-sent events: the newest snapshot as JSON, about once a second, for as
///                  long as the viewer reads
/// GET /metrics     for Prometheus, in the requested format
/// POST /do/NAME    an order for engines, as JSON: {"engines": [0, 1] or "all", ...}; the answer is
///                  {"status": "ok", ...} or {"status": "error", "why": "..."}
///
/// The thread that owns it constructs and destroys it; the destructor ends the web thread and all
/// connections.
class WebServer {
 public:
  /// Listens at 127.0.0.1: access from elsewhere is by ssh or a proxy.
  /// port    0: a free one.
  /// errors  system: cannot listen there.
  static Result<std::unique_ptr<WebServer>> start(int port, WebContent content,
                                                  const WebBounds& bounds = {});
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  int port() const;
  /// There is a new snapshot. Any thread may call it; costs that thread next to nothing.
  void publish();

 private:
  class State;
  explicit WebServer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace px::controller
