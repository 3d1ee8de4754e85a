#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/records/placed_engine.hpp"
#include "net/discovery/address_race.hpp"
#include "net/socket.hpp"
#include "wire/connection_info.hpp"
#include "wire/engine_end.hpp"
#include "wire/engine_facts.hpp"
#include "wire/session.hpp"

namespace px::cluster {

/// The controller's answer about its engines.
struct HubAnswer {
  int engine_count = 0;
  std::vector<std::string> warnings;  ///< Sentences about engines that do not match.
  std::vector<PlacedEngine> placed;   ///< Those that report which pxcluster has started them.
  std::vector<EngineFacts> engines = {}, lost = {};  ///< The facts that they report, or reported.
};

/// A client of the controller that only asks for the number of engines, and reports how engines
/// ended.
class HubClient {
 public:
  /// Connects to the controller at all its addresses, and waits until one answers.
  /// options  how long each of them may take.
  /// errors  bad_input: an unknown packer or signature scheme; unsupported: no CURVE here;
  ///         lost_peer: no answer: the message says what was tried, and the fix.
  static Result<HubClient> connect(net::Context& context, const ClientConnectionInfo& info,
                                   const net::AddressRace::RaceOptions& options = {});
  /// Connects, and waits for one answer; nothing if none arrives. Each address, and the answer, may
  /// take `patience`. Opens no ssh tunnel.
  static std::optional<HubAnswer> ask_once(const ClientConnectionInfo& info, Duration patience);
  /// Sends the question. receive() returns the answer.
  void ask();
  /// The latest answer that has arrived; nothing if none has.
  std::optional<HubAnswer> receive();
  /// Sends the report; there is no answer.
  void report(const DeathReport& report);
  /// Announces that the engines of this set are about to be ended; `why` is a clause. There is no
  /// answer.
  void announce_end(const std::string& engine_set, const std::string& why);
  net::Socket& socket() { return socket_; }

 private:
  HubClient(Session session, net::Socket socket)
      : session_(std::move(session)), socket_(std::move(socket)) {}
  std::optional<HubAnswer> read(const Frames& frames) const;
  Session session_;
  net::Socket socket_;
};

}  // namespace px::cluster
