#include "controller/dashboard_orders.hpp"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "wire/counted.hpp"

namespace px::controller {
namespace {

/// For the log: "the dashboard ... 3 engines".
std::string name_of_wish(const EngineWish& wish) {
  if (const auto* signal = std::get_if<SignalEngines>(&wish))
    return "sends the signal " + std::to_string(signal->signal) + " to";
  if (const auto* drain = std::get_if<DrainEngines>(&wish))
    return drain->is_drained ? "drains" : "gives tasks again to";
  return std::holds_alternative<AskStacks>(wish) ? "takes the stacks of" : "shuts down";
}

}  // namespace

DashboardOrders::DashboardOrders(std::shared_ptr<Dashboard> dashboard, const EngineTable& engines,
                                 ControlRelay& control, Packer packer, EngineRestart restart,
                                 Drain drain)
    : dashboard_(std::move(dashboard)),
      engines_(engines),
      control_(control),
      packer_(packer),
      restart_(std::move(restart)),
      drain_(std::move(drain)) {
  control_.on_own_reply([this](const MessageId& order, std::string_view content) {
    if (asking_) asking_->question.answered(order, content);
  });
}

void DashboardOrders::wake_by(net::Waker waker) {
  if (dashboard_) dashboard_->wake_for_orders(std::move(waker));
}

void DashboardOrders::on_wake(Instant now) {
  if (!dashboard_) return;
  for (const Order& order : dashboard_->take_orders()) carry_out(order, now);
}

void DashboardOrders::on_time(Instant now) {
  if (!asking_ || !asking_->question.is_over(now)) return;
  const Asking done = std::move(*asking_);
  asking_.reset();
  done.answer(WebContent::OrderNews{[packer = packer_, replies = done.question.replies()] {
    return stacks_for_page(packer, replies);
  }});
}

std::optional<Instant> DashboardOrders::next_deadline() const {
  if (!asking_) return std::nullopt;
  return asking_->question.deadline();
}

Result<std::vector<EngineId>> DashboardOrders::engines_of(const EngineOrder& order) const {
  std::vector<EngineId> all;
  for (const auto& [id, uuid] : engines_.engines()) all.push_back(id);
  if (!order.engines) return all;
  for (const EngineId id : *order.engines)
    if (!engines_.engines().contains(id))
      return Error{ErrorKind::not_found, "there is no engine " + std::to_string(id.value)};
  return *order.engines;
}

/// All of it or nothing.
void DashboardOrders::carry_out(const Order& order, Instant now) {
  if (std::holds_alternative<RestartEngines>(order.order.what)) return restart(order);
  const auto engines = engines_of(order.order);
  if (!engines) return order.answer(engines.error());
  spdlog::info("the dashboard {} {}", name_of_wish(order.order.what),
               counted(engines->size(), "engine"));
  if (std::holds_alternative<AskStacks>(order.order.what))
    return ask_stacks(*engines, order.answer, now);
  order.answer(tell(order.order.what, *engines));
}

Result<WebContent::OrderNews> DashboardOrders::tell(const EngineWish& wish,
                                                    const std::vector<EngineId>& engines) {
  const auto* const drain = std::get_if<DrainEngines>(&wish);
  if (drain && !drain_)
    return Error{ErrorKind::unsupported,
                 "this controller has no queue of tasks (--scheme), so engines cannot be drained"};
  for (const EngineId id : engines) {
    if (const auto* signal = std::get_if<SignalEngines>(&wish))
      control_.order(uuid_of(id), "signal_request", {{"sig", signal->signal}});
    else if (drain)
      drain_(engines_.engines().at(id), drain->is_drained);
    else
      control_.order(uuid_of(id), "shutdown_request", {{"restart", false}});
  }
  return WebContent::OrderNews{};
}

/// Also those that are not registered at the moment, as they have died: pxcluster checks the ids.
void DashboardOrders::restart(const Order& order) {
  spdlog::info("the dashboard restarts engines");
  restart_.begin(order.order.engines.value_or(std::vector<EngineId>{}),
                 [answer = order.answer](const Result<void>& done) {
                   if (!done) return answer(done.error());
                   answer(WebContent::OrderNews{});
                 });
}

void DashboardOrders::ask_stacks(const std::vector<EngineId>& engines,
                                 const WebContent::Answer& answer, Instant now) {
  if (asking_)
    return answer(Error{ErrorKind::overloaded,
                        "stacks are taken for another viewer: try again in a few seconds"});
  if (engines.size() > StackQuestion::most_engines)
    return answer(
        Error{ErrorKind::bad_input,
              "ask at most " + std::to_string(StackQuestion::most_engines) + " engines at a time"});
  asking_.emplace(Asking{StackQuestion{now}, answer});
  for (const EngineId id : engines)
    asking_->question.asked(
        control_.order(uuid_of(id), "usage_request", {{"place", true}, {"stacks", true}}), id);
}

}  // namespace px::controller
