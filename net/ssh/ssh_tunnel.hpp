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

/// Ports of another network, at 127.0.0.1 of this host: one ssh process and a thread that starts it
/// again when it ends. It ends with this object, and with this process, however that ends.
class SshTunnel {
 public:
  struct Order {
    SshServer server;
    std::string key_file;    ///< Empty: those that ssh finds by itself.
    std::string host;        ///< Whose ports, as the server calls it.
    std::vector<int> ports;  ///< Each once.
    /// Is told, in a thread of the tunnel's, when it breaks and when it is there again.
    std::function<void(const std::string&)> report = {};
  };
  /// Waits until the tunnel is there.
  /// errors  system: no ssh here; or it cannot make it, or not in time: names the server, what ssh
  ///         said and the fix.
  static Result<std::unique_ptr<SshTunnel>> open(const Order& order, Duration patience);
  /// In a child that was forked from our process: leaves all to the parent.
  ~SshTunnel();
  SshTunnel(const SshTunnel&) = delete;
  SshTunnel& operator=(const SshTunnel&) = delete;

  /// The port here for each one there; the same for the life of the tunnel.
  const std::map<int, int>& ports() const;
  /// Whether it is there now. Any thread.
  bool is_up() const;
  /// What ssh said last; empty: nothing. Any thread.
  std::string last_words() const;

 private:
  class Keeper;
  explicit SshTunnel(std::unique_ptr<Keeper> keeper);
  std::unique_ptr<Keeper> keeper_;
};

}  // namespace px::net
