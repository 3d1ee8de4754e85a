#include "net/ssh/ssh_tunnel.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "net/loop.hpp"
#include "net/ssh/ssh_complaint.hpp"
#include "net/ssh/tunnel_watch.hpp"
#include "net/tcp.hpp"
#include "net/watched_child.hpp"
#include "os/signals_blocked.hpp"

namespace px::net {
namespace {

constexpr std::size_t max_words = 2000;

/// The first port that the system gives to those who dial out. A tunnel's port must lie below:
/// while ssh is started again nobody listens there, and who dials a port that the system may give
/// him for his own end can be connected to himself.
int first_port_of_diallers() {
  int first = 0;
  std::ifstream{"/proc/sys/net/ipv4/ip_local_port_range"} >> first;
  return first > 12000 ? first : 32768;
}

std::optional<int> free_port(const std::map<int, int>& taken) {
  static thread_local std::mt19937 random{std::random_device{}()};
  const int end = first_port_of_diallers();
  std::uniform_int_distribution<int> any{end - 10000, end - 1};
  for (int attempt = 0; attempt < 200; ++attempt) {
    const int port = any(random);
    const bool is_ours = std::any_of(taken.begin(), taken.end(),
                                     [&](const auto& item) { return item.second == port; });
    if (!is_ours && listen_tcp("127.0.0.1", port)) return port;
  }
  return std::nullopt;
}

Result<std::map<int, int>> choose_ports(const std::vector<int>& wanted) {
  std::map<int, int> ports;
  for (const int port : wanted) {
    const auto found = free_port(ports);
    if (!found) return Error{ErrorKind::system, "no free port at 127.0.0.1 for an ssh tunnel"};
    ports[port] = *found;
  }
  return ports;
}

}  // namespace

/// The thread that owns ssh. What stands below `shared` is guarded by mutex_.
class SshTunnel::Keeper {
 public:
  Keeper(Order order, std::map<int, int> ports)
      : order_(std::move(order)), ports_(std::move(ports)) {
    const os::SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  }
  ~Keeper() {
    is_finished_ = true;
    loop_.waker().wake();
    thread_.join();
  }

  Result<void> wait(Duration patience) {
    std::unique_lock lock{mutex_};
    const bool is_decided =
        changed_.wait_for(lock, patience, [this] { return is_up_ || failure_; });
    if (failure_) return *failure_;
    if (is_decided) return {};
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
    return failure("timed out after " + std::to_string(waited) + " s", "timed out");
  }

  const std::map<int, int>& ports() const { return ports_; }
  bool is_up() const { return is_up_; }
  std::string last_words() const {
    const std::lock_guard lock{mutex_};
    return last_line_of(words_);
  }
  bool is_of_this_process() const { return owner_ == ::getpid(); }

 private:
  void run() {
    start();
    while (!is_finished_) {
      loop_.wait_until(watch_.next_start());
      if (has_ended_) take_end();
      if (watch_.next_start() && Clock::now() >= *watch_.next_start()) start();
    }
    ssh_.reset();
  }

  void start() {
    watch_.started();
    TunnelPlan plan{order_.server, order_.key_file, {}};
    for (const auto& [port, local] : ports_) plan.forwards.push_back({local, order_.host, port});
    auto child = WatchedChild::start(tunnel_command(plan), "", loop_,
                                     {.on_line = [this](std::string_view line) { hear(line); },
                                      .on_errors = [this](std::string_view text) { keep(text); },
                                      .on_end =
                                          [this](os::ProcessEnd, const std::string& complaint) {
                                            has_ended_ = true;
                                            complaint_ = complaint;
                                          }});
    ssh_.reset();
    if (child)
      ssh_.emplace(std::move(*child));
    else
      fail({ErrorKind::system, child.error().what + "; install the OpenSSH client on this host"});
  }

  void hear(std::string_view line) {
    if (line.find(tunnel_is_up) == std::string_view::npos) return;
    if (watch_.was_up()) report("is open again");
    watch_.is_up(Clock::now());
    is_up_ = true;
    const std::lock_guard lock{mutex_};
    changed_.notify_all();
  }

  void keep(std::string_view text) {
    const std::lock_guard lock{mutex_};
    words_ += text;
    if (words_.size() > max_words) words_.erase(0, words_.size() - max_words);
  }

  /// Not inside a handler of the child, which is to go.
  void take_end() {
    has_ended_ = false;
    const bool was_up = is_up_.exchange(false);
    const std::string why = last_line_of(complaint_);
    ssh_.reset();
    if (was_up) report("broke" + (why.empty() ? "" : " (" + why + ")") + "; reconnecting");
    switch (watch_.ended(complaint_, Clock::now())) {
      case TunnelWatch::Next::start_later:
        return;
      case TunnelWatch::Next::take_other_ports:
        return take_other_ports();
      case TunnelWatch::Next::give_up:
        return fail(failure(why.empty() ? "ssh gave no reason" : why, complaint_));
    }
  }

  void take_other_ports() {
    auto ports = choose_ports(order_.ports);
    if (!ports) return fail(ports.error());
    ports_ = std::move(*ports);  // nobody has seen them before the tunnel is up
    start();
  }

  void report(const std::string& what) const {
    if (order_.report) order_.report("the ssh tunnel to " + order_.server.login + " " + what);
  }

  void fail(Error error) {
    const std::lock_guard lock{mutex_};
    if (!watch_.was_up()) failure_ = std::move(error);
    changed_.notify_all();
  }

  Error failure(const std::string& said, const std::string& complaint) const {
    const std::string& server = order_.server.login;
    return {ErrorKind::system,
            "ssh cannot open a tunnel to " + server + ": " + said + ssh_advice(complaint, server)};
  }

  const Order order_;
  const pid_t owner_ = ::getpid();
  std::map<int, int> ports_;
  Loop loop_;
  std::optional<WatchedChild> ssh_;
  TunnelWatch watch_;
  bool has_ended_ = false;
  std::string complaint_;
  std::atomic<bool> is_finished_ = false;
  std::atomic<bool> is_up_ = false;

  mutable std::mutex mutex_;  // shared, from here on
  std::condition_variable changed_;
  std::optional<Error> failure_;
  std::string words_;
  std::thread thread_;
};

SshTunnel::SshTunnel(std::unique_ptr<Keeper> keeper) : keeper_(std::move(keeper)) {}

SshTunnel::~SshTunnel() {
  if (!keeper_->is_of_this_process()) static_cast<void>(keeper_.release());
}

Result<std::unique_ptr<SshTunnel>> SshTunnel::open(const Order& order, Duration patience) {
  auto ports = choose_ports(order.ports);
  if (!ports) return ports.error();
  auto keeper = std::make_unique<Keeper>(order, std::move(*ports));
  if (auto done = keeper->wait(patience); !done) return done.error();
  return std::unique_ptr<SshTunnel>(new SshTunnel(std::move(keeper)));
}

const std::map<int, int>& SshTunnel::ports() const {
  return keeper_->ports();
}
bool SshTunnel::is_up() const {
  return keeper_->is_up();
}
std::string SshTunnel::last_words() const {
  return keeper_->last_words();
}

}  // namespace px::net
