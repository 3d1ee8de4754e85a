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

/// How long engines are waited for, and where the table of engines lies.
struct MembershipOptions {
  HeartbeatOptions heartbeat;
  /// For an engine that has asked to register, to answer a heartbeat.
  Duration registration_timeout = std::chrono::seconds(30);
  /// An engine whose lifeline ended may come back with another one for so long.
  Duration lifeline_grace = std::chrono::milliseconds(250);
  /// The same where it came through a tunnel, which may have ended while the engine lives.
  Duration tunnel_grace = std::chrono::seconds(10);
  /// For the process that watches over an engine, to tell how it ended.
  Duration report_patience = std::chrono::seconds(2);
  std::filesystem::path table_file;  ///< engines<id>.json
  /// Neither the scheduler nor clients are told of an engine before it is in the table file: a
  /// later controller is to know of all engines that may hold a task.
  bool saves_first = false;
};

/// An engine that was given up although its end had not been announced.
struct LostEngine {
  EngineFacts facts;
  std::string why;  ///< A clause: "its process was killed by SIGKILL".
  Instant since;
  bool is_announced = false;  ///< Whoever started it was about to end it.
};

/// Lets engines in and out. It owns the classes that decide (EngineTable, HeartbeatMonitor,
/// DeathJudge, BrokenWorlds) and acts on what they say: sends pings, receives pongs and lifelines,
/// tells the other parts of the server by listeners and the clients by notifications, and keeps the
/// table of engines on the disk for a later controller. What engines and clients say at the
/// registration sockets comes from QueryServer.
///
/// An engine joins when it has answered a heartbeat. It is silent when it has missed two beats, and
/// leaves when it unregisters, when its process has ended, or when it has missed too many beats.
/// One that answers after that is registered again under its id, unless another engine has it.
///
/// The I/O thread owns it. Its one write to the disk waits 200 ms at most.
class Membership {
 public:
  Membership(RelayContext& shared, const MembershipOptions& options, net::Socket& notification,
             net::Socket& ping, net::Socket& pong, net::LifelineServer& lifeline, Instant now);

  // Listeners are set before anything is received, and called on the I/O thread. Those of
  // on_joined() and on_left() are called before clients are told.
  using Listener = std::function<void(const RegisteredEngine&)>;
  using LeftListener = std::function<void(const RegisteredEngine&, const EngineEnd&)>;
  void on_joined(Listener listener) { joined_listeners_.push_back(std::move(listener)); }
  void on_left(LeftListener listener) { left_listeners_.push_back(std::move(listener)); }
  /// A registered engine is not heard any more, or is heard again (HeartbeatMonitor::is_silent).
  void on_silent(Listener listener) { silent_listener_ = std::move(listener); }
  void on_returned(Listener listener) { returned_listener_ = std::move(listener); }

  /// An engine of an earlier controller answers pings, and this one knows nothing more of it: it is
  /// to be asked to register again. Called up to 50 times, as its connections come back one by one.
  using StrangerListener = std::function<void(const EngineUuid&)>;
  void on_stranger(StrangerListener listener) { stranger_listener_ = std::move(listener); }
  /// The engines of an earlier controller that can introduce themselves again: those of polyxeus in
  /// the table file. They stay in the file, and their ids are kept for them, until they have, or
  /// the registration timeout is over.
  std::set<EngineUuid> expect_former_engines(Instant now);

  /// Where to ask what an engine has said of itself (QueryServer has it): clients are told of it,
  /// too.
  using Facts = std::function<EngineFacts(const EngineUuid&)>;
  void know_facts_by(Facts facts) { facts_ = std::move(facts); }

  /// A rank of this engine's MPI world has died: it is to be told this sentence.
  using BrokenListener = std::function<void(const EngineUuid&, const std::string& sentence)>;
  void on_broken(BrokenListener listener) { broken_listener_ = std::move(listener); }
  /// That sentence; empty while its world is whole.
  std::string broken_world_of(const EngineUuid& uuid) const;
  /// The engines that were lost, by their ids: those whose ids no other engine has taken since, and
  /// whose set of engines was not ended on purpose. 4096 at most.
  const std::map<EngineId, LostEngine>& lost() const { return lost_; }
  /// How many engines of this MPI world live, or may.
  int living_in(std::string_view world) const;

  const EngineTable& table() const { return table_; }
  /// HeartbeatMonitor::silence_of().
  Duration silence_of(const EngineUuid& uuid) const { return heartbeat_.silence_of(uuid.text); }
  /// Protocol 4.4: the id, or why not. The engine is in once its heart is heard.
  /// language  "" where the engine does not say.
  Result<EngineId> request(const EngineUuid& uuid, std::optional<EngineId> wanted, Instant now,
                           const std::string& language = "");
  /// The same for one that an earlier controller registered, and that has only its old id.
  Result<EngineId> request_again(const EngineUuid& uuid, EngineId id, Instant now,
                                 const std::string& language);
  /// Takes the engines of the table file back in, as if they had never been away.
  Result<void> restore();
  /// An engine is taken out: the listeners of on_left() and the clients are told. One that is
  /// pending is just forgotten.
  /// why  a clause, for logs and errors: "it was shut down".
  void leave(EngineId id, std::string_view why);
  /// Whether the engine's process has ended for certain: its last replies come soon then, or never.
  enum class Process { has_ended, may_live };
  void leave(const EngineUuid& uuid, std::string_view why, Process process = Process::may_live);
  /// The engine ends, as SIGTERM asks it to.
  void terminated(EngineId id);
  /// The program that started this set of engines is about to end them.
  /// engine_set  the part before "/" of EngineFacts::set_member; or all of it: that engine alone,
  ///             which is remembered as lost until another one has its id.
  /// why         a clause for the clients that wait for these engines.
  void expect_ends(std::string_view engine_set, const std::string& why);
  /// Connections of an engine broke and stand again: clients are told, who then send again what is
  /// not answered.
  void reconnected(const EngineUuid& uuid);
  /// A checkpoint of variables of engines is complete; the last one is told to those whose MPI
  /// world is lost.
  void checkpoint_written(std::string path) { last_checkpoint_ = std::move(path); }
  /// The watcher of an engine saw its process end. Ignored if the engine has left already.
  void reported(const DeathReport& report);

  // The sockets are readable:
  void receive_pongs();
  void receive_ping_subscriptions();
  void receive_notification_subscriptions();
  void receive_lifelines();

  /// Sends a notification to all clients; one that does not read now gets it later.
  void notify(const std::string& type, Json content, const std::string& parent_header = "{}");
  /// Pings, gives up engines, asks again, saves: what is due.
  void on_time(Instant now);
  Instant next_deadline() const;
  /// Writes the table if it is not on the disk yet. If that fails it is tried again after 2 s.
  void save();

 private:
  void welcome(const RegisteredEngine& engine);
  void heard(const EngineUuid& uuid, std::string_view pong);
  void newly_registered(const RegisteredEngine& engine);
  void announce_engines();
  void left(const RegisteredEngine& engine, std::string_view why, Process process);
  /// That it is there, and whether it is silent. Clients may hear that more than once.
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
  EngineTable former_{Duration{}};  // those of an earlier controller that have not come back
  Instant former_until_{};
  HeartbeatMonitor heartbeat_;
  /// An engine that was given up since its heart stopped: it may live.
  struct Missed {
    EngineId id;
    std::string language;
  };
  std::vector<Listener> joined_listeners_;
  std::vector<RegisteredEngine> unannounced_;  // of which neither listeners nor clients know yet
  std::set<EngineUuid> returning_;           // who introduce themselves again
  std::vector<LeftListener> left_listeners_;
  Listener silent_listener_, returned_listener_;
  BrokenListener broken_listener_;
  std::map<EngineUuid, Missed> missed_;
  Facts facts_;
  /// An engine of an earlier controller that has not introduced itself yet.
  struct Asked {
    Instant next;
    int times = 0;
  };
  std::map<EngineUuid, Asked> strangers_;
  std::set<EngineUuid> met_;  // all who ever joined this controller
  StrangerListener stranger_listener_;
  DeathJudge deaths_;
  BrokenWorlds broken_;
  std::map<EngineId, LostEngine> lost_;
  std::string last_checkpoint_;  // its path; empty: there is none
  std::set<EngineUuid> living_;  // whose lifelines are open
  std::optional<Instant> save_due_;
};

}  // namespace px::controller
