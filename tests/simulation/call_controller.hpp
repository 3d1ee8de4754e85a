#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/hub/hub.hpp"
#include "controller/hub/memory_store.hpp"
#include "controller/relay/broadcast_relay.hpp"
#include "controller/relay/call_keeper.hpp"
#include "tests/simulation/setting.hpp"
#include "tests/simulation/simulated_disk.hpp"
#include "tests/simulation/world.hpp"
#include "wire/session.hpp"

namespace px::simulation {

using controller::CallChannel;

/// Where the messages of a controller go, and who checks what it does.
class CallSurroundings {
 public:
  virtual ~CallSurroundings() = default;
  /// request  [client, engine, delimiter, ...]
  virtual void ask(const EngineUuid& engine, CallChannel channel, const SharedFrames& request) = 0;
  /// reply  [client, delimiter, ...]
  virtual void answer(CallChannel channel, const SharedFrames& reply) = 0;
  /// The disk did not take what was told of this call.
  virtual void unwritten(const std::string& msg_id) = 0;
  /// The reply of this call is passed on, as the disk has it, and what was printed before.
  virtual void written(const std::string& msg_id) = 0;
};

/// A controller as far as direct calls and broadcasts go: the classes that decide, joined as
/// Server, DirectRelay and BroadcastDesk join them.
class CallController {
 public:
  /// disk  null: there is no journal.
  CallController(World& world, const Setting& setting, Session session,
                 std::shared_ptr<SimulatedDisk> disk, CallSurroundings& surroundings);
  ~CallController() { *lives_ = false; }

  /// Goes on with what the journal says. Engines that are known have joined.
  std::vector<controller::LeftCall> restore();
  void take_request(CallChannel channel, const SharedFrames& frames);
  void take_reply(CallChannel channel, const SharedFrames& frames);
  void take_output(const SharedFrames& frames);
  /// A request waited too long for its engine.
  void undelivered(CallChannel channel, const SharedFrames& request);
  void engine_joined(const EngineUuid& engine);
  void engine_reconnected(const EngineUuid& engine, CallChannel channel);
  void engine_left(const EngineUuid& engine);

  const std::set<EngineUuid>& members() const { return members_; }
  /// An engine that is waited for, if there is one.
  std::optional<EngineUuid> awaited() const;
  /// Whether nothing is owed or gathered; else what is.
  std::optional<std::string> unrest() const;

  /// What the records say of a call.
  struct Record {
    std::string status, engine_name, output;  ///< engine_name: who says that it ran the call.
  };
  std::optional<Record> record_of(const std::string& msg_id) const;

 private:
  void tell_of(const SharedFrames& request);
  void ask(CallChannel channel, const SharedFrames& request);
  void pass_reply(const SharedFrames& frames);
  void pass_broadcast_reply(const SharedFrames& frames);
  void send(const controller::BroadcastToClient& message);
  void ask_again(const EngineUuid& engine, CallChannel channel);
  void record(const controller::LeftCall& call);
  void tell_hub(const controller::HubEvent& event);
  bool is_disk_refusing();
  void note_unwritten(const Frames& frames, bool is_reply);
  void note_unwritten_end(const EngineUuid& engine);
  void turn_ends();
  void look_later();
  bool has(Defect defect) const { return setting_.defect == defect; }
  WallTime wall() const { return world_.wall(); }

  World& world_;
  const Setting& setting_;
  Session session_;
  const std::shared_ptr<SimulatedDisk> disk_;
  CallSurroundings& surroundings_;
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  controller::MemoryStore* store_;  // the hub's
  controller::Hub hub_;
  controller::CallKeeper calls_;
  controller::BroadcastRelay relay_;
  controller::HeldRequests<SharedFrames> requests_, broadcasts_;
  controller::HeldMessages<SharedFrames> replies_, broadcast_replies_;
  controller::HeldMessages<controller::BroadcastToClient> ends_;
  std::set<EngineUuid> members_;
  bool has_failed_ = false;
  Instant next_look_ = Instant::max();
};

/// The number in a name like "engine7".
EngineId id_of(const EngineUuid& engine);

}  // namespace px::simulation
