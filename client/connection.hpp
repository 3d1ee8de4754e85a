#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/composer.hpp"
#include "client/engine_change.hpp"
#include "client/engine_directory.hpp"
#include "client/silence.hpp"
#include "net/ssh/tunnel_plan.hpp"
#include "wire/connection_info.hpp"

namespace px::client {

/// The sockets of a client and the thread that owns them: sends what any thread posts, finds the
/// calls that answers and outputs belong to, keeps the list of engines. Any thread may call it.
class Connection {
 public:
  struct Options {
    Duration timeout = std::chrono::seconds(10);  ///< For the controller to answer at first.
    /// The Python whose functions are sent, e.g. "3.11"; empty: none are.
    std::string python = {};
    /// For a tunnel; it is also made where the file says `ssh` and no address answers.
    net::SshWish ssh = {};
  };
  /// Dials the controller at all its addresses, or through ssh, and waits until it has answered.
  /// where  the file's path, for sentences.
  /// errors  bad_input: the connection info is not usable; lost_peer: nobody listens there, or no
  ///         answer in time: says what was tried and what may be the cause; system: no
  ///         tunnel: says what ssh said.
  static Result<std::unique_ptr<Connection>> open(const ClientConnectionInfo& info,
                                                  const std::string& where, const Options& options);
  /// Fails what is not answered and closes the sockets.
  ~Connection();

  Composer& composer();
  /// Where the controller was reached, e.g. "tcp://10.0.0.1"; this end of a tunnel.
  const std::string& interface() const;

  /// Sends the message, in the order of the calls. What cannot be sent fails its entries.
  void post(Outgoing message);

  /// As they are now; never null. What comes and leaves later is in later ones: a new one is made
  /// when somebody asks after a change.
  std::shared_ptr<const EngineDirectory> engines() const;
  /// Waits until `count` engines are there. False when `deadline` passed first.
  bool wait_for_engines(std::size_t count, std::optional<Instant> deadline) const;
  /// `handler` runs in the I/O thread for each change; it must not wait.
  void on_engine_change(std::function<void(const EngineChange&)> handler);

  /// `handler` runs in the I/O thread after this time, unless the connection is closed before.
  void after(Duration delay, std::function<void()> handler);

  /// Requests that were sent and not answered.
  std::vector<MessageId> unanswered() const;
  /// What is to be told about engines that do not fit together, or not to this client: sentences,
  /// each once.
  std::vector<std::string> take_warnings();
  /// The engines that are there and that the controller does not hear.
  std::vector<Silence> silences() const;
  /// Why nothing can be sent any more; nothing while all is well.
  std::optional<std::string> why_closed() const;

 private:
  class IoThread;
  explicit Connection(std::unique_ptr<IoThread> thread);
  std::unique_ptr<IoThread> thread_;
};

}  // namespace px::client
