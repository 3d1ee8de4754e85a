#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/ssh/tunnel_plan.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::net {

/// An ssh tunnel: makes ports of a host in another network reachable at 127.0.0.1 of this host. It
/// consists of one ssh process and a thread that starts ssh again whenever it ends, with growing
/// pauses. The local ports never change, so ZeroMQ sockets that are connected to them reconnect on
/// their own. The tunnel ends with this object, and with this process, however that ends.
class SshTunnel {
 public:
  /// The ports to forward, and the server to use.
  struct Order {
    SshServer server;
    std::string key_file;    ///< Empty: the keys that ssh finds.
    std::string host;        ///< The host with the ports, by its name at the server.
    std::vector<int> ports;  ///< The ports to forward, each once.
    /// Called on the tunnel's thread with a sentence when the tunnel breaks and when it is open
    /// again. May be empty.
    std::function<void(const std::string&)> report = {};
  };
  /// Opens a tunnel, and blocks until it is open.
  /// patience  how long to wait for that.
  /// errors    system: there is no ssh on this host, or it cannot make the tunnel in time: the
  ///           message names the server, ssh's message and the fix.
  static Result<std::unique_ptr<SshTunnel>> open(const Order& order, Duration patience);
  /// Ends ssh and the thread. Has no effect in a forked child of this process: both belong to the
  /// parent.
  ~SshTunnel();
  SshTunnel(SshTunnel&&) = delete;

  /// The local port for each port of `Order::ports`; the same for the life of the tunnel.
  const std::map<int, int>& ports() const;
  /// Whether the tunnel is open now. Any thread.
  bool is_up() const;
  /// The last line that ssh wrote to stderr; empty if there is none. Any thread.
  std::string last_words() const;

 private:
  class Keeper;
  explicit SshTunnel(std::unique_ptr<Keeper> keeper);
  std::unique_ptr<Keeper> keeper_;
};

}  // namespace px::net
