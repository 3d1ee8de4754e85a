#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/membership/broken_worlds.hpp"
#include "controller/membership/death_judge.hpp"
#include "controller/membership/engine_table.hpp"
#include "controller/membership/heartbeat_monitor.hpp"
#include "controller/relay/news_publisher.hpp"
#include "controller/relay/relay_context.hpp"
#include "net/lifeline/lifeline.hpp"
#include "net/socket.hpp"
#include "os/file_writer.hpp"
#include "wire/engine_end.hpp"
#include "wire/engine_facts.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// How long engines are awaited, and the path of the table of engines.
struct MembershipOptions {
  HeartbeatOptions heartbeat;
  /// For an engine that has requested its registration, to answer a heartbeat.
  Duration registration_timeout = std::chrono::seconds(30);
  /// The time that an engine whose lifeline ended has to open another one.
  Duration lifeline_grace = std::chrono::milliseconds(250);
  /// The same for a lifeline through a tunnel, which may end while the engine lives.
  Duration tunnel_grace = std::chrono::seconds(10);
  /// For the watcher of an engine, to report how it ended.
  Duration report_patience = std::chrono::seconds(2);
  std::filesystem::path table_file;  ///< engines<id>.json
  /// Whether the scheduler and clients are informed of an engine only after it is in the table
  /// file: a later controller must know all engines that may hold a task.
  bool saves_first = false;
};

/// An engine that was given up without an announcement of its end.
struct LostEngine {
  EngineFacts facts;
  std::string why;  ///< A clause: "its process was killed by SIGKILL".
  Instant since;
  bool is_announced = false;  ///< The program that started it was about to end it.
};

/// Admits and removes engines. It owns the classes that decide (EngineTable, HeartbeatMonitor,
/// DeathJudge, BrokenWorlds) and performs their decisions: sends pings, receives pongs and
/// lifelines, informs the other parts of the server through listeners and the clients through
/// notifications, and stores the table of engines on the disk for a later controller. QueryServer
/// passes it the messages of engines and clients at the registration sockets.
///
/// An engine joins when it has answered a heartbeat. It is silent when it has missed two beats, and
/// leaves when it unregisters, when its process has ended, or when it has missed too many beats.
/// One that answers after that is registered again under its id, unless another engine has it.
///
/// The I/O thread owns it. Its only write to the disk waits 200 ms at most.
class Membership {
 public:
  Membership(RelayContext& shared, const MembershipOptions& options, net::Socket& notification,
             net::Socket& ping, net::Socket& pong, net::LifelineServer& lifeline, Instant now);

  // Listeners are set before anything is received, and called on the I/O thread. Those of
  // on_joined() and on_left() are called before clients are informed.
  using Listener = std::function<void(const RegisteredEngine&)>;
  using LeftListener = std::function<void(const RegisteredEngine&, const EngineEnd&)>;
  void on_joined(Listener listener) { joined_listeners_.push_back(std::move(listener)); }
  void on_left(LeftListener listener) { left_listeners_.push_back(std::move(listener)); }
  /// A registered engine is no longer heard, or is heard again (HeartbeatMonitor::is_silent).
  void on_silent(Listener listener) { silent_listener_ = std::move(listener); }
  void on_returned(Listener listener) { returned_listener_ = std::move(listener); }

  /// An engine of an earlier controller answers pings but is otherwise unknown to this one: it must
  /// be asked to register again. Called up to 50 times, because its connections return one by one.
  using StrangerListener = std::function<void(const EngineUuid&)>;
  void on_stranger(StrangerListener listener) { stranger_listener_ = std::move(listener); }
  /// The engines of an earlier controller that can register again: those of polyxeus in the table
  /// file. They stay in the file, and their ids are reserved for them, until they have registered,
  /// or the registration timeout is over.
  std::set<EngineUuid> expect_former_engines(Instant now);

  /// Returns the facts that an engine has reported (QueryServer has them): clients are informed of
  /// them, too.
  using Facts = std::function<EngineFacts(const EngineUuid&)>;
  void know_facts_by(Facts facts) { facts_ = std::move(facts); }

  /// A rank of this engine's MPI world has died: the engine must be sent this sentence.
  using BrokenListener = std::function<void(const EngineUuid&, const std::string& sentence)>;
  void on_broken(BrokenListener listener) { broken_listener_ = std::move(listener); }
  /// That sentence; empty while its world is complete.
  std::string broken_world_of(const EngineUuid& uuid) const;
  /// The lost engines, by their ids: those whose ids no other engine has got since, and whose set
  /// of engines was not ended on purpose. 4096 at most.
  const std::map<EngineId, LostEngine>& lost() const { return lost_; }
  /// The number of engines of this MPI world that are, or may be, alive.
  int living_in(std::string_view world) const;

  /// See DeathJudge::measured().
  void measured(const EngineUuid& uuid, std::uint64_t memory_bytes) {
    deaths_.measured(uuid, memory_bytes);
  }

  const EngineTable& table() const { return table_; }
  /// See HeartbeatMonitor::silence_of().
  Duration silence_of(const EngineUuid& uuid) const { return heartbeat_.silence_of(uuid.text); }
  /// Protocol 4.4: returns the id, or the reason of a refusal. The engine joins when its first
  /// heartbeat is received.
  /// language  "" if the engine does not report it.
  Result<EngineId> request(const EngineUuid& uuid, std::optional<EngineId> wanted, Instant now,
                           const std::string& language = "");
  /// Like request(), for an engine that an earlier controller registered, and that gets only its
  /// old id.
  Result<EngineId> request_again(const EngineUuid& uuid, EngineId id, Instant now,
                                 const std::string& language);
  /// Registers the engines of the table file again, as if they had never been away.
  Result<void> restore();
  /// Removes an engine: the listeners of on_left() and the clients are informed. A pending one is
  /// only forgotten.
  /// why  a clause, for logs and errors: "it was shut down".
  void leave(EngineId id, std::string_view why);
  /// Whether the engine's process has certainly ended: in that case its last replies arrive soon,
  /// or never.
  enum class Process { has_ended, may_live };
  void leave(const EngineUuid& uuid, std::string_view why, Process process = Process::may_live);
  /// The engine has received SIGTERM, and is about to end.
  void terminates(const EngineUuid& uuid);
  /// The engine ends, because it received SIGTERM.
  void terminated(EngineId id);
  /// The program that started this set of engines is about to end them.
  /// engine_set   the part before "/" of EngineFacts::set_member; or all of it: only that engine,
  ///              which is remembered as lost until another one has its id.
  /// why          a clause for the clients that wait for these engines.
  /// is_for_good  the one engine is not needed any more: it is not remembered as lost.
  void expect_ends(std::string_view engine_set, const std::string& why, bool is_for_good = false);
  /// Connections of an engine broke and were restored: clients are informed, and send unanswered
  /// requests again.
  void reconnected(const EngineUuid& uuid);
  /// A checkpoint of variables of engines is complete; engines whose MPI world is lost are told the
  /// latest one.
  void checkpoint_written(std::string path) { last_checkpoint_ = std::move(path); }
  /// The path of that checkpoint; empty: there is none.
  const std::string& last_checkpoint() const { return last_checkpoint_; }
  /// The watcher of an engine reports the end of its process. Ignored if the engine has already
  /// left.
  void reported(const DeathReport& report);

  // The sockets are readable:
  void receive_pongs();
  void receive_ping_subscriptions();
  void receive_notification_subscriptions();
  void receive_lifelines();

  /// Sends a notification to all clients; one that does not read at present gets it later.
  void notify(const std::string& type, Json content, const std::string& parent_header = "{}");
  /// Does what is due: pings, gives up engines, asks again, saves.
  void on_time(Instant now);
  Instant next_deadline() const;
  /// Writes the table if it is not on the disk yet. After a failure it tries again after 2 s.
  void save();

 private:
  void welcome(const RegisteredEngine& engine);
  void heard(const EngineUuid& uuid, std::string_view pong);
  void newly_registered(const RegisteredEngine& engine);
  void announce_engines();
  void left(const RegisteredEngine& engine, std::string_view why, Process process);
  /// Announces that it is present, and whether it is silent. Clients may receive that more than
  /// once.
  void announce(const RegisteredEngine& engine, const Json& more = Json::object());
  SharedFrames announcement(const RegisteredEngine& engine, const Json& more);
  SharedFrames composed(const std::string& type, Json content,
                        const std::string& parent_header = "{}");
  void tell_new_clients();
  void heart_stopped(const EngineUuid& uuid);
  void became_silent(const EngineUuid& uuid);
  void returned(const EngineUuid& uuid);
  void readmit(const EngineUuid& uuid);
  void forget_former(Instant now);
  void meet(const EngineUuid& uuid);
  void ask_strangers(Instant now);
  EngineFacts facts_of(const EngineUuid& uuid) const;
  std::optional<EngineUuid> find(const DeathReport& report) const;
  void give_up_the_dead(Instant now);
  void note_loss(const EngineUuid& uuid, const std::string& why, bool is_announced = false);
  std::string how_to_go_on(const EngineFacts& facts) const;
  std::optional<std::string> lost_host_of(std::string_view world) const;
  std::string lost_host_text(const std::string& host,
                             const std::vector<RegisteredEngine>& members) const;
  void tell_survivors(const std::string& world);
  std::vector<RegisteredEngine> members_of(std::string_view world) const;
  RelayContext& shared_;
  MembershipOptions options_;
  os::FileWriter table_file_;
  NewsPublisher news_;
  net::Socket& ping_;
  net::Socket& pong_;
  net::LifelineServer& lifeline_;
  EngineTable table_;
  EngineTable former_{Duration{}};  // engines of an earlier controller that have not returned
  Instant former_until_{};
  HeartbeatMonitor heartbeat_;
  /// An engine that was given up because it stopped to answer heartbeats: it may be alive.
  struct Missed {
    EngineId id;
    std::string language;
  };
  std::vector<Listener> joined_listeners_;
  std::vector<RegisteredEngine> unannounced_;  // neither listeners nor clients have been informed
                                               // of them
  std::set<EngineUuid> returning_;             // engines that register again
  std::vector<LeftListener> left_listeners_;
  Listener silent_listener_, returned_listener_;
  BrokenListener broken_listener_;
  std::map<EngineUuid, Missed> missed_;
  Facts facts_;
  /// An engine of an earlier controller that has not registered again.
  struct Asked {
    Instant next;
    int times = 0;
  };
  std::map<EngineUuid, Asked> strangers_;
  std::set<EngineUuid> met_;  // all engines that ever joined this controller
  StrangerListener stranger_listener_;
  DeathJudge deaths_;
  BrokenWorlds broken_;
  std::map<EngineId, LostEngine> lost_;
  std::string last_checkpoint_;  // its path; empty: there is none
  std::set<EngineUuid> living_;  // engines whose lifelines are open
  std::optional<Instant> save_due_;
};

}  // namespace px::controller
