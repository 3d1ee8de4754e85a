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

/// What the controller says of its engines.
struct HubAnswer {
  int engine_count = 0;
  std::vector<std::string> warnings;  ///< Sentences about engines that do not fit together.
  std::vector<PlacedEngine> placed;   ///< Those that say which pxcluster has started them.
  std::vector<EngineFacts> engines = {}, lost = {};  ///< What they say, or said, of themselves.
};

/// A client of the controller that asks one thing only: how many engines are there? And tells it
/// how engines ended.
class HubClient {
 public:
  /// Dials the controller at all its addresses, and waits until one answers.
  /// options  how long each of them may take.
  /// errors  bad_input: an unknown packer or signature scheme; unsupported: no CURVE here;
  ///         lost_peer: nobody answers: says what was tried, and the fix.
  static Result<HubClient> connect(net::Context& context, const ClientConnectionInfo& info,
                                   const net::AddressRace::RaceOptions& options = {});
  /// Connects, and waits for one answer; nothing where none comes. Each address, and the answer,
  /// may take `patience`. Opens no ssh tunnel.
  static std::optional<HubAnswer> ask_once(const ClientConnectionInfo& info, Duration patience);
  /// Sends the question. The answer comes by receive().
  void ask();
  /// The last answer that has come; nothing where none has.
  std::optional<HubAnswer> receive();
  /// There is no answer.
  void report(const DeathReport& report);
  /// The engines of this set are about to be ended; `why` is a clause. There is no answer.
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
