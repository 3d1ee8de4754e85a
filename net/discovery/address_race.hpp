#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::net {

/// Why an address did not lead to the controller.
enum class DialFailure {
  unknown_name,  ///< The name does not resolve.
  refused,       ///< The host is there, nobody listens.
  no_route,      ///< The network says that the host cannot be reached.
  timed_out,     ///< Nothing came back: a firewall, or no such host.
  silent,        ///< A connection was accepted, and no answer signed with our key came.
  wrong_key,     ///< The handshake of encryption failed.
};

/// What one address said.
struct DialedAddress {
  std::string host;  ///< As it is dialed: an address, or a name that did not resolve.
  std::string name;  ///< The name that it was found by; empty for an address.
  DialFailure failure = DialFailure::timed_out;
};

/// Decides which of a controller's addresses is tried when, and which one is taken: the next one
/// starts when the one before has failed or has kept us waiting for `head_start`; the first one
/// that answers rightly wins. Sees no socket and no clock.
class AddressRace {
 public:
  struct Options {
    Duration head_start = std::chrono::milliseconds(250);
    Duration patience = std::chrono::seconds(4);  ///< For one address to answer.
    /// For one that has accepted the connection, if that is longer: its host may be busy.
    Duration connected_patience = {};
  };
  AddressRace(const std::vector<std::string>& hosts, const Options& options);

  /// The runners to be started now, each once. A runner keeps its number.
  std::vector<std::size_t> start_due(Instant now);
  /// What to dial for it.
  const std::string& host(std::size_t runner) const { return runners_.at(runner).dialed.host; }

  /// The name stands for these addresses: the runner takes the first; the others run next.
  void resolved(std::size_t runner, const std::vector<std::string>& addresses);
  void failed(std::size_t runner, DialFailure failure);
  /// It accepted the connection: when its time is over it was silent.
  void connected(std::size_t runner);
  /// It answered with the right key.
  void answered(std::size_t runner);
  /// Ends the runners that have had their time; returns them.
  std::vector<std::size_t> expire(Instant now);

  std::optional<std::size_t> winner() const { return winner_; }
  bool is_over() const;
  std::optional<Instant> next_deadline() const;
  /// All that has failed so far, in the order of their start.
  std::vector<DialedAddress> failures() const;

 private:
  enum class State { waiting, running, failed };
  struct Runner {
    DialedAddress dialed;
    State state = State::waiting;
    bool is_connected = false;
    Instant deadline = {};
  };
  Options options_;
  std::vector<Runner> runners_;
  std::vector<std::size_t> order_;  // in which they start
  std::optional<Instant> next_start_;
  std::optional<std::size_t> winner_;
};

/// One sentence: what was tried, what each said, and the fix.
/// port    the registration port
/// source  where the addresses come from, e.g. the path of the connection file
Error explain(const std::vector<DialedAddress>& failures, int port, std::string_view source);

}  // namespace px::net
