#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "controller/sight/metrics_format.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// A request of a browser or of Prometheus, as far as a decision needs it. Absent headers are
/// empty. The texts must live as long as the call that reads them.
struct WebRequest {
  std::string_view method = {};         ///< "GET"
  std::string_view target = {};         ///< "/do/signal?x", as it was sent.
  std::string_view host = {};           ///< Host: "127.0.0.1:8080"
  std::string_view origin = {};         ///< Origin: "http://127.0.0.1:8080"
  std::string_view token = {};          ///< X-Polyxeus-Token
  std::string_view authorization = {};  ///< Authorization: "Bearer ..."
  std::string_view accept = {};         ///< Accept: "text/plain;version=0.0.4"
  std::string_view body = {};           ///< Of a POST.
};

// What a user of the page wants of engines.

struct SignalEngines {
  int signal = 0;
};
struct ShutDownEngines {};
/// They are to be started anew, with the same ids.
struct RestartEngines {};
/// They are to get no further balanced tasks, or to get them again.
struct DrainEngines {
  bool is_drained = true;
};
/// In which calls are their threads? The answer says it.
struct AskStacks {};
using EngineWish =
    std::variant<AskStacks, DrainEngines, RestartEngines, SignalEngines, ShutDownEngines>;
struct EngineOrder {
  EngineWish what = {};
  std::optional<std::vector<EngineId>> engines = {};  ///< Nothing: all.
};

/// What to answer to a request.
struct ServeFile {
  std::string name;  ///< "index.html"
};
struct ServeStream {};  ///< Snapshots, for as long as the viewer reads.
struct ServeMetrics {   ///< For Prometheus.
  MetricsFormat format = MetricsFormat::prometheus;
};
struct PassOrder {
  EngineOrder order;
};
struct RefuseRequest {
  int status = 0;   ///< 401, 403, 404 ...
  std::string why;  ///< One sentence for a person; holds nothing of the request.
};
using WebDecision = std::variant<ServeFile, ServeStream, ServeMetrics, PassOrder, RefuseRequest>;

/// What a RequestGate knows.
struct GateOptions {
  std::string token;  ///< Not empty.
  /// Further names and addresses by which the page may be reached, beside those of the loopback
  /// device, at any port. As the header Host has them: "[fd00::1]".
  std::set<std::string> host_names = {};
  std::set<std::string> files = {};  ///< Those of the page.
};

/// Decides what a request to the dashboard may do; sees no socket. Called on the web thread.
///
/// The files of the page are for everybody who reaches the port: they hold no secrets. All else
/// needs the token, in a header: a page of another origin cannot send such a header, so that no
/// cookie opens anything (CSRF). Host must be a name of this server, so that a name that an
/// attacker lets point here reads nothing (DNS rebinding), and Origin, where there is one, the
/// same. The token is compared in constant time.
class RequestGate {
 public:
  explicit RequestGate(GateOptions options);
  WebDecision decide(const WebRequest& request) const;

 private:
  bool is_own_name(std::string_view host) const;
  bool is_own_origin(const WebRequest& request) const;
  bool has_token(const WebRequest& request) const;
  GateOptions options_;
};

}  // namespace px::controller
