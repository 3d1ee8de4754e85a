#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
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
  std::string last_checkpoint = {};  ///< The path of the latest checkpoint; empty: there is none.
};

/// The controller's answer about work.
struct WorkAnswer {
  struct Counts {
    std::size_t tasks = 0;      ///< Balanced tasks that the engine has.
    std::size_t direct = 0;     ///< Its unanswered direct requests.
    std::size_t completed = 0;  ///< Requests of both kinds that it has answered.
  };
  std::size_t waiting = 0;  ///< Balanced tasks that no engine has.
  std::map<EngineId, Counts> engines = {};
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
  /// is_for_good  one engine that will not be started again: it does not count as lost.
  void announce_end(const std::string& engine_set, const std::string& why,
                    bool is_for_good = false);
  /// Asks about the work of the engines, which take_work() returns, and says that up to
  /// `most_engines` of them are started when there are tasks; 0: not said.
  void ask_work(int most_engines = 0);
  /// The answer to the latest ask_work() that receive() has found; nothing if none has arrived.
  std::optional<WorkAnswer> take_work() { return std::exchange(work_, std::nullopt); }
  /// Engines, by their places ("17/2"), get no further balanced tasks, or get them again. There is
  /// no answer; answers to later questions count it.
  void drain(const std::vector<std::string>& places, bool is_drained);
  /// Adds an event to the event log.  kind  "scaled" or "respawned".
  void tell_event(const std::string& kind, const std::string& text);
  net::Socket& socket() { return socket_; }

 private:
  HubClient(Session session, net::Socket socket)
      : session_(std::move(session)), socket_(std::move(socket)) {}
  std::optional<HubAnswer> read(const Frames& frames);
  static WorkAnswer read_work(const Json& content);
  void send(std::string msg_type, Json content);
  Session session_;
  net::Socket socket_;
  MessageId work_question_;  // the latest
  std::optional<WorkAnswer> work_;
};

}  // namespace px::cluster
