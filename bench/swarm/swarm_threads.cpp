#include "bench/swarm/swarm_threads.hpp"

#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "bench/load/echo_engines.hpp"
#include "os/descriptor_limit.hpp"

namespace px::bench {
namespace {

/// For the program itself, its client and the descriptors of libzmq.
constexpr std::size_t other_descriptors = 200, other_sockets = 20;

}  // namespace

/// Some of the engines, all owned by one thread.
class Swarm::Thread {
 public:
  Thread(net::Context& context, const SwarmOptions& options, SwarmCounts& counts)
      : context_(context), options_(options), counts_(counts), task_time_(options.task_time) {
    loop_.on_wake([this] { run_orders(); });
    thread_ = std::thread([this] { run(); });
  }
  ~Thread() {
    order([this] { is_stopping_ = true; });
    thread_.join();
  }

  void join(std::size_t number) {
    order([this, number] {
      engines_.try_emplace(number);
      Played& played = engines_.at(number);
      played.engine = std::make_unique<SwarmEngine>(
          context_, loop_, options_.info, echo_engine_uuid(number), options_.tells_measures,
          counts_, [this, number](std::size_t socket, SharedFrames request) {
            take(number, socket, std::move(request));
          });
    });
  }
  void leave(std::size_t number, End end) {
    order([this, number, end] {
      const auto found = engines_.find(number);
      if (found == engines_.end()) return;
      if (end == End::goodbye) found->second.engine->say_goodbye();
      engines_.erase(found);
    });
  }
  void set_task_time(Duration time) {
    order([this, time] { task_time_ = time; });
  }

 private:
  struct Played {
    std::unique_ptr<SwarmEngine> engine;
    Instant busy_until{};
  };
  struct Due {
    std::size_t number, socket;
    SharedFrames request;
  };

  void order(std::function<void()> order) {
    {
      const std::lock_guard lock{mutex_};
      orders_.push_back(std::move(order));
    }
    loop_.waker().wake();
  }
  void run_orders() {
    std::vector<std::function<void()>> orders;
    {
      const std::lock_guard lock{mutex_};
      orders.swap(orders_);
    }
    for (const auto& each : orders) each();
  }
  void run() {
    while (!is_stopping_) {
      loop_.wait_until(due_.empty() ? std::nullopt : std::optional(due_.begin()->first));
      answer_due(Clock::now());
    }
    engines_.clear();
  }
  void take(std::size_t number, std::size_t socket, SharedFrames request) {
    Played& played = engines_.at(number);
    if (task_time_ == Duration{0}) return played.engine->answer(socket, *request);
    played.busy_until = std::max(played.busy_until, Clock::now()) + task_time_;
    due_.emplace(played.busy_until, Due{number, socket, std::move(request)});
  }
  void answer_due(Instant now) {
    while (!due_.empty() && due_.begin()->first <= now) {
      const Due due = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      if (const auto found = engines_.find(due.number); found != engines_.end())
        found->second.engine->answer(due.socket, *due.request);
    }
  }

  net::Context& context_;
  const SwarmOptions& options_;
  SwarmCounts& counts_;
  Duration task_time_;
  net::Loop loop_;
  std::map<std::size_t, Played> engines_;
  std::multimap<Instant, Due> due_;
  bool is_stopping_ = false;
  std::mutex mutex_;
  std::vector<std::function<void()>> orders_;
  std::thread thread_;
};

Result<std::unique_ptr<Swarm>> Swarm::create(const SwarmOptions& options) {
  const std::size_t descriptors =
      options.max_engines * SwarmEngine::descriptor_count + other_descriptors;
  if (os::raise_descriptor_limit() < descriptors)
    return Error{ErrorKind::system, "so many engines need " + std::to_string(descriptors) +
                                        " file descriptors: raise the hard limit (ulimit -Hn)"};
  std::unique_ptr<Swarm> swarm{new Swarm(options)};
  const std::size_t sockets = options.max_engines * SwarmEngine::socket_count + other_sockets;
  if (auto allowed = net::allow_sockets(*swarm->context_, sockets); !allowed)
    return allowed.error();
  for (std::size_t i = 0; i < options.threads; ++i)
    swarm->threads_.push_back(
        std::make_unique<Thread>(*swarm->context_, swarm->options_, swarm->counts_));
  return swarm;
}

Swarm::Swarm(const SwarmOptions& options)
    : options_(options), context_(std::make_unique<net::Context>()) {}
Swarm::~Swarm() = default;

void Swarm::join(std::size_t number) {
  thread_of(number).join(number);
}
void Swarm::leave(std::size_t number, End end) {
  thread_of(number).leave(number, end);
}
void Swarm::set_task_time(Duration time) {
  for (const auto& thread : threads_) thread->set_task_time(time);
}

}  // namespace px::bench
