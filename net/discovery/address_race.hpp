#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::net {

/// Why an address did not lead to the controller. explain() turns it into a sentence.
enum class DialFailure {
  unknown_name,  ///< The name does not resolve.
  refused,       ///< The host exists, but no program listens at the port.
  no_route,      ///< The network reports that the host cannot be reached.
  timed_out,     ///< No answer: a firewall, or no such host.
  silent,        ///< A program accepted the connection, but sent no answer signed with our key.
  wrong_key,     ///< The handshake of encryption failed.
};

/// The outcome of one address that was tried.
struct DialedAddress {
  std::string host;  ///< As it was tried: an address, or a name that did not resolve.
  std::string name;  ///< The name that resolved to it; empty for an address.
  DialFailure failure = DialFailure::timed_out;
};

/// Decides when each of a controller's addresses is tried, and which one is used ("happy
/// eyeballs"): the next attempt starts when the one before has failed or has taken longer than
/// `head_start`; the first attempt that gets a right answer wins. So an unreachable address costs a
/// fraction of a second and not its whole timeout. Uses no socket and no clock; find_controller()
/// performs its decisions. A "runner" is one address that takes part; it keeps its number.
class AddressRace {
 public:
  /// Time limits of attempts.
  struct RaceOptions {
    Duration head_start = std::chrono::milliseconds(250);
    Duration patience = std::chrono::seconds(4);  ///< For one address to answer.
    /// The same for an address that has accepted the connection, if that is longer: its host may be
    /// busy.
    Duration connected_patience = {};
  };
  /// hosts  addresses and names, best first.
  AddressRace(const std::vector<std::string>& hosts, const RaceOptions& options);

  /// The runners to start now, each returned once; at most one in a call. Call it whenever
  /// something has changed, and at next_deadline().
  std::vector<std::size_t> start_due(Instant now);
  /// The address or name of a runner.
  const std::string& host(std::size_t runner) const { return runners_.at(runner).dialed.host; }

  /// The name of this runner resolves to these addresses: the runner gets the first one that is not
  /// in the race yet, and the others become runners that start next. Empty: the runner has failed
  /// (unknown_name).
  void resolved(std::size_t runner, const std::vector<std::string>& addresses);
  /// The attempt has failed, so that the next one may start at once.
  void failed(std::size_t runner, DialFailure failure);
  /// The address accepted the connection: if its time runs out it counts as silent and not as timed
  /// out.
  void connected(std::size_t runner);
  /// The address answered with the right key: it wins, unless another one has won.
  void answered(std::size_t runner);
  /// Fails the runners whose time has run out, and returns them, so that the caller closes their
  /// sockets.
  std::vector<std::size_t> expire(Instant now);

  /// The runner that has won; nothing if none has so far.
  std::optional<std::size_t> winner() const { return winner_; }
  /// Whether one has won, or all have failed.
  bool is_over() const;
  /// When start_due() or expire() has work; nothing when the race is over.
  std::optional<Instant> next_deadline() const;
  /// The addresses that have failed so far, in the order in which they start.
  std::vector<DialedAddress> failures() const;

 private:
  enum class DialState { waiting, running, failed };
  struct Runner {
    DialedAddress dialed;
    DialState state = DialState::waiting;
    bool is_connected = false;
    Instant deadline = {};
  };
  RaceOptions options_;
  std::vector<Runner> runners_;
  std::vector<std::size_t> order_;  // in which they start
  std::optional<Instant> next_start_;
  std::optional<std::size_t> winner_;
};

/// The error when no address has won: one sentence with the attempts, how each failed, and the most
/// likely fix.
/// port    the registration port.
/// source  where the addresses come from, e.g. the path of the connection file.
/// result  lost_peer; bad_input if there was no address at all.
Error explain(const std::vector<DialedAddress>& failures, int port, std::string_view source);

}  // namespace px::net
