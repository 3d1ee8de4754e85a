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

/// The parts of a request of a browser or of Prometheus that a decision needs. Absent headers are
/// empty. The texts must be valid as long as the call that reads them.
struct WebRequest {
  std::string_view method = {};         ///< "GET"
  std::string_view target = {};         ///< "/do/signal?x", as sent.
  std::string_view host = {};           ///< Host: "127.0.0.1:8080"
  std::string_view origin = {};         ///< Origin: "http://127.0.0.1:8080"
  std::string_view token = {};          ///< X-Polyxeus-Token
  std::string_view authorization = {};  ///< Authorization: "Bearer ..."
  std::string_view accept = {};         ///< Accept: "text/plain;version=0.0.4"
  std::string_view body = {};           ///< Of a POST.
};

// The orders of a user of the page to engines.

struct SignalEngines {
  int signal = 0;
};
struct ShutDownEngines {};
/// The engines must be restarted, with the same ids.
struct RestartEngines {};
/// The engines must get no further balanced tasks, or get them again.
struct DrainEngines {
  bool is_drained = true;
};
/// The answer must say in which calls their threads are.
struct AskStacks {};
using EngineWish =
    std::variant<AskStacks, DrainEngines, RestartEngines, SignalEngines, ShutDownEngines>;
struct EngineOrder {
  EngineWish what = {};
  std::optional<std::vector<EngineId>> engines = {};  ///< Nothing: all.
};

/// The possible answers to a request.
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
  std::string why;  ///< One sentence for people; contains no text of the request.
};
using WebDecision = std::variant<ServeFile, ServeStream, ServeMetrics, PassOrder, RefuseRequest>;

/// The settings of a RequestGate.
struct GateOptions {
  std::string token;  ///< Not empty.
  /// Further names and addresses by which the page may be reached, in addition to those of the
  /// loopback device, at any port. In the form of the header Host: "[fd00::1]".
  std::set<std::string> host_names = {};
  std::set<std::string> files = {};  ///< The files of the page.
};

/// Decides whether a request to the dashboard is allowed; uses no socket. Called on the web thread.
///
/// The files of the page are available to every peer that reaches the port: they contain no
/// secrets. All else requires the token, in a header: a page of another origin cannot send such a
/// header, and cookies are not used (CSRF). Host must be a name of this server, so that a name that
/// an attacker points to this address reads nothing (DNS rebinding), and so must Origin, if there
/// is one. The token is compared in constant time.
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
