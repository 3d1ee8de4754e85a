#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/hub/hub.hpp"
#include "controller/hub/memory_store.hpp"
#include "controller/ledger/call_ledger.hpp"
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
  /// The reply of this call was passed on, as the disk has it, and what was printed before.
  virtual void written(const std::string& msg_id) = 0;
};

/// A controller as far as direct calls and broadcasts go: its CallLedger and its hub, with the
/// simulated network in the place of sockets.
class CallController final : private controller::CallTransport {
 public:
  /// disk  null: there is no journal.
  CallController(World& world, const Setting& setting, Session session,
                 std::shared_ptr<SimulatedDisk> disk, CallSurroundings& surroundings);
  ~CallController() override { *lives_ = false; }

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
  bool is_member(const EngineUuid& engine) const override { return members_.contains(engine); }
  std::optional<controller::Problem> overload(CallChannel, const EngineUuid&) const override {
    return std::nullopt;
  }
  SharedFrames whole(const SharedFrames& frames) const override { return frames; }
  WallTime wall() const override { return world_.wall(); }
  void ask(CallChannel channel, const SharedFrames& call) override;
  void answer(const SharedFrames& reply) override;
  void answer(const controller::BroadcastToClient& message) override;
  void record(controller::HubEvent event) override;

  std::unique_ptr<controller::CallJournal> make_journal();
  bool is_disk_refusing();
  void note_unwritten(const Frames& frames, bool is_reply);
  void note_unwritten_end(const EngineUuid& engine);
  void turn_ends();
  void look_later();
  bool has(Defect defect) const { return setting_.defect == defect; }

  World& world_;
  const Setting& setting_;
  Session session_;
  const std::shared_ptr<SimulatedDisk> disk_;
  CallSurroundings& surroundings_;
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  controller::MemoryStore* store_;  // the hub's
  controller::Hub hub_;
  controller::CallLedger ledger_;
  std::set<EngineUuid> members_;
  std::set<std::string> broadcasts_;  // that came to this controller
  bool takes_unwritten_ = false;      // requests that come now are not written
  bool asks_again_ = false;
  bool has_failed_ = false;
  Instant next_look_ = Instant::max();
};

/// The number in a name like "engine7".
EngineId id_of(const EngineUuid& engine);

}  // namespace px::simulation
