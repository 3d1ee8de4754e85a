#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "controller/engine_restart.hpp"
#include "controller/membership/engine_table.hpp"
#include "controller/relay/control_relay.hpp"
#include "controller/web/dashboard.hpp"
#include "controller/web/stack_question.hpp"
#include "net/loop.hpp"

namespace px::controller {

/// Performs the orders of the dashboard's users: sends signals and shutdown requests to engines,
/// drains and restarts them, and asks them for their stacks, for one user at a time. The Server
/// owns it, on the I/O thread.
class DashboardOrders {
 public:
  /// Makes the queue give an engine no further tasks, or give it tasks again.
  using Drain = std::function<void(const EngineUuid&, bool is_drained)>;

  /// dashboard  null: there is none, and there are no orders.
  /// engines    the registered ones; outlives this object, as does `control`.
  /// restart    see EngineRestart.
  /// drain      null: there is no queue.
  DashboardOrders(std::shared_ptr<Dashboard> dashboard, const EngineTable& engines,
                  ControlRelay& control, Packer packer, EngineRestart restart, Drain drain);

  /// `waker` wakes the loop whose thread calls the other functions.
  void wake_by(net::Waker waker);
  /// Takes the orders that users have given in the meantime.
  void on_wake(Instant now);
  /// Stops waiting for engines that do not report their stacks.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  using Order = Dashboard::WaitingOrder;
  struct Asking {
    StackQuestion question;
    WebContent::Answer answer;
  };

  /// All engines that the order names, or not_found.
  Result<std::vector<EngineId>> engines_of(const EngineOrder& order) const;
  void carry_out(const Order& order, Instant now);
  Result<WebContent::OrderNews> tell(const EngineWish& wish, const std::vector<EngineId>& engines);
  void restart(const Order& order);
  void ask_stacks(const std::vector<EngineId>& engines, const WebContent::Answer& answer,
                  Instant now);
  std::string_view uuid_of(EngineId id) const { return engines_.engines().at(id).text; }

  const std::shared_ptr<Dashboard> dashboard_;
  const EngineTable& engines_;
  ControlRelay& control_;
  const Packer packer_;
  EngineRestart restart_;
  const Drain drain_;
  std::optional<Asking> asking_;
};

}  // namespace px::controller
