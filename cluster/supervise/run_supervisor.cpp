#include <deque>
#include <utility>

#include "cluster/supervise/supervisor_io.hpp"

namespace px::cluster {
namespace {

/// Performs effects, and those that come of them, in order.
class Performer {
 public:
  Performer(Supervisor& supervisor, SupervisorIo& io) : supervisor_(supervisor), io_(io) {}

  void perform(std::vector<Effect> effects) {
    for (Effect& effect : effects) waiting_.push_back(std::move(effect));
    while (!waiting_.empty()) {
      const Effect effect = std::move(waiting_.front());
      waiting_.pop_front();
      std::visit([this](const auto& order) { perform_one(order); }, effect);
    }
  }

  int exit_code() const { return exit_code_; }

 private:
  void perform_one(const EndRun& order) { exit_code_ = order.exit_code; }
  void perform_one(const StartProcess& order) {
    if (supervisor_.is_ended()) return;
    for (Effect& effect : supervisor_.on(io_.start(order), io_.now()))
      waiting_.push_back(std::move(effect));
  }
  template <class Order>
  void perform_one(const Order& order) {
    io_.perform(order);
  }

  Supervisor& supervisor_;
  SupervisorIo& io_;
  std::deque<Effect> waiting_;
  int exit_code_ = 0;
};

}  // namespace

int run(Supervisor& supervisor, SupervisorIo& io) {
  Performer performer{supervisor, io};
  performer.perform(supervisor.begin(io.now()));
  while (!supervisor.is_ended()) {
    for (const Event& event : io.wait_until(supervisor.next_deadline()))
      performer.perform(supervisor.on(event, io.now()));
    performer.perform(supervisor.on_time(io.now()));
  }
  return performer.exit_code();
}

}  // namespace px::cluster
