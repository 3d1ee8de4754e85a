// The process that watches over the engines of one host: SshWatch decides, this acts.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>

#include "cluster/process/signal_source.hpp"
#include "cluster/remote/ssh_watch.hpp"
#include "cluster/remote/watch_report.hpp"
#include "cluster/remote/watchers.hpp"
#include "net/watched_child.hpp"
#include "os/descriptor.hpp"
#include "os/private_file.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

/// A folder of our own with a short path, as that of a socket must be; removed at the end.
class ShortFolder {
 public:
  ShortFolder() {
    char name[] = "/tmp/px-XXXXXX";
    check(::mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~ShortFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ShortFolder(ShortFolder&&) = delete;
  std::filesystem::path file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

class SshWatchProcess {
 public:
  SshWatchProcess(SshHostPlan plan, const std::string& connection_info)
      : plan_(std::move(plan)),
        watch_(with_control_path(), connection_info, TunnelMeans::of_this_host()) {}

  int run() {
    ::signal(SIGPIPE, SIG_IGN);
    SignalSource signals{loop_, {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}, [this](int number) {
                           take_signal(number);
                         }};
    write_note();
    watch_orders();
    perform(watch_.begin(Clock::now()));
    while (!watch_.is_ended()) {
      loop_.wait_until(watch_.next_deadline());
      take_events();
      perform(watch_.on_time(Clock::now()));
    }
    sessions_.clear();
    remove_note();
    return exit_code_;
  }

 private:
  const SshHostPlan& with_control_path() {
    plan_.control_path = folder_.file("c").string();
    return plan_;
  }

  // What arrives is kept until the loop has come back: to handle it may end what it came from.
  void take_signal(int number) {
    events_.emplace_back([this, number] {
      if (number == SIGUSR1 || number == SIGUSR2)
        perform(watch_.pass_on(number == SIGUSR1 ? "USR1" : "USR2"));
      else
        perform(watch_.stop(Clock::now()));
    });
  }

  void watch_orders() {
    const char* const text = std::getenv(order_variable);
    const auto descriptor = read_whole_number(text ? text : "");
    ::unsetenv(order_variable);
    if (!descriptor) return;
    orders_ = os::Descriptor{*descriptor};
    ::fcntl(orders_.value(), F_SETFD, FD_CLOEXEC);
    ::fcntl(orders_.value(), F_SETFL, O_NONBLOCK);
    loop_.watch(orders_.value(), [this] { read_orders(); });
  }

  void read_orders() {
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::read(orders_.value(), buffer, sizeof buffer)) > 0)
      rest_.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1))
      if (const auto order = read_watch_order(std::string_view(rest_).substr(0, end)))
        events_.emplace_back([this, order = *order] { perform(watch_.restart(order)); });
    if (count == 0) loop_.forget(orders_.value());
  }

  void take_events() {
    while (!events_.empty()) {
      const auto event = std::move(events_.front());
      events_.pop_front();
      event();
    }
  }

  void perform(const std::vector<WatchEffect>& effects) {
    for (const WatchEffect& effect : effects)
      std::visit([this](const auto& order) { perform_one(order); }, effect);
  }

  void perform_one(const OpenSession& order) {
    sessions_.erase(order.session);
    if (order.session == SshSession::main) {
      // what a broken connection left of it
      std::error_code error;
      std::filesystem::remove(plan_.control_path, error);
    }
    const SshSession session = order.session;
    auto child = net::WatchedChild::start(
        ssh_argv(
            plan_,
            !plan_.setup.empty() && (session == SshSession::main || session == SshSession::restart),
            order.forwards),
        order.script, loop_,
        {.on_line =
             [this, session](std::string_view line) {
               events_.emplace_back([this, session, text = std::string(line)] {
                 perform(watch_.line(session, text, Clock::now()));
               });
             },
         .on_end =
             [this, session](os::ProcessEnd end, const std::string& complaint) {
               events_.emplace_back([this, session, end, complaint] {
                 perform(watch_.closed(session, end, complaint, Clock::now()));
               });
             }});
    if (child) {
      sessions_.emplace(session, std::move(*child));
      return;
    }
    const std::string failure = child.error().what;
    events_.emplace_back([this, session, failure] {
      perform(watch_.closed(session, os::ProcessEnd{127, 0}, failure, Clock::now()));
    });
  }
  void perform_one(const CloseSession& order) {
    sessions_.erase(order.session);
    if (order.session != SshSession::main) return;
    std::error_code error;
    std::filesystem::remove(plan_.control_path, error);
  }
  void perform_one(const SayReport& order) { sender_.send(order.report); }
  void perform_one(const KeepLog& order) {
    auto [log, is_new] = logs_.try_emplace(order.engine);
    if (is_new) {
      const std::string file = plan_.log_stem + "-" + std::to_string(order.engine) + ".log";
      os::Descriptor{
          ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};  // the user's alone
      log->second.open(file, std::ios::binary);
    }
    log->second << order.line << '\n';
  }
  void perform_one(const EndWatch& order) { exit_code_ = order.exit_code; }

  /// For `pxcluster logs`, which reads what engines print by the same connection.
  void write_note() {
    if (plan_.note_file.empty()) return;
    if (auto done = os::write_file_atomically(plan_.note_file,
                                              pack(Packer::json, write_ssh_host_plan(plan_)));
        !done)
      std::cout << done.error().what << std::endl;
  }
  void remove_note() {
    std::error_code error;
    if (!plan_.note_file.empty()) std::filesystem::remove(plan_.note_file, error);
  }

  ShortFolder folder_;
  SshHostPlan plan_;
  SshWatch watch_;
  net::Loop loop_;
  ReportSender sender_;
  os::Descriptor orders_;
  std::string rest_;  // of a line of them
  std::map<SshSession, net::WatchedChild> sessions_;
  std::map<int, std::ofstream> logs_;
  std::deque<std::function<void()>> events_;
  int exit_code_ = 0;
};

}  // namespace

int watch_ssh(const Json& plan, const std::string& connection_info) {
  auto host = read_ssh_host_plan(plan);
  if (!host) {
    std::cerr << host.error().what << std::endl;
    return 1;
  }
  return SshWatchProcess{std::move(*host), connection_info}.run();
}

}  // namespace px::cluster
