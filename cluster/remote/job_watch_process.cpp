// The process that watches over one job of a batch system: JobWatch decides, this acts.
#include <csignal>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <optional>

#include "cluster/process/signal_source.hpp"
#include "cluster/remote/job_watch.hpp"
#include "cluster/remote/watch_report.hpp"
#include "cluster/remote/watchers.hpp"
#include "net/watched_child.hpp"
#include "os/private_file.hpp"

namespace px::cluster {
namespace {

class JobWatchProcess {
 public:
  explicit JobWatchProcess(JobPlan plan) : plan_(std::move(plan)), watch_(plan_) {}

  int run() {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGUSR1, SIG_IGN);
    ::signal(SIGUSR2, SIG_IGN);
    SignalSource signals{loop_, {SIGTERM, SIGINT, SIGHUP}, [this](int) {
                           events_.emplace_back([this] { perform(watch_.stop(Clock::now())); });
                         }};
    for (const auto& [file, text] :
         {std::pair(plan_.script_file, plan_.script), std::pair(plan_.wrapper_file, plan_.wrapper)})
      if (!text.empty())
        if (auto done = os::write_file_atomically(file, text, 0700); !done) {
          sender_.send({Level::error, done.error().what, 0});
          return 1;
        }
    perform(watch_.begin(Clock::now()));
    while (!watch_.is_ended()) {
      loop_.wait_until(watch_.next_deadline());
      take_events();
      perform(watch_.on_time(Clock::now()));
    }
    for (const std::string& file : {plan_.script_file, plan_.wrapper_file, plan_.end_file}) {
      std::error_code error;
      if (!file.empty()) std::filesystem::remove(file, error);
    }
    return exit_code_;
  }

 private:
  void take_events() {
    while (!events_.empty()) {
      const auto event = std::move(events_.front());
      events_.pop_front();
      event();
    }
  }

  void perform(const std::vector<JobEffect>& effects) {
    for (const JobEffect& effect : effects)
      std::visit([this](const auto& order) { perform_one(order); }, effect);
  }

  void perform_one(const AskBatchSystem& order) {
    answer_ = {};
    command_.reset();
    auto child =
        net::WatchedChild::start(order.argv, order.input, loop_,
                                 {.on_line =
                                      [this](std::string_view line) {
                                        answer_.out.append(line);
                                        answer_.out += '\n';
                                      },
                                  .on_end =
                                      [this](os::ProcessEnd end, const std::string& complaint) {
                                        tell_answer(end.is_failure(), complaint);
                                      }});
    if (child)
      command_.emplace(std::move(*child));
    else
      tell_answer(true, child.error().what);
  }
  void tell_answer(bool is_failure, const std::string& complaint) {
    answer_.is_failure = is_failure;
    answer_.complaint = complaint;
    events_.emplace_back([this] { perform(watch_.answered(BatchAnswer{answer_}, Clock::now())); });
  }
  void perform_one(const TellReport& order) { sender_.send(order.report); }
  void perform_one(const RecordEnd& order) {
    if (const auto done = os::write_file_atomically(plan_.end_file, order.text + "\n", 0600); !done)
      sender_.send({Level::warning, done.error().what, {}});
  }
  void perform_one(const EndJobWatch& order) { exit_code_ = order.exit_code; }

  JobPlan plan_;
  JobWatch watch_;
  net::Loop loop_;
  ReportSender sender_;
  BatchAnswer answer_;
  std::optional<net::WatchedChild> command_;
  std::deque<std::function<void()>> events_;
  int exit_code_ = 0;
};

}  // namespace

int watch_job(const Json& json, const std::string& connection_info) {
  auto plan = read_job_plan(json);
  if (!plan) {
    std::cerr << plan.error().what << std::endl;
    return 1;
  }
  if (plan->system.submits_environment && !connection_info.empty())
    ::setenv("IPP_CONNECTION_INFO", connection_info.c_str(), 1);
  return JobWatchProcess{std::move(*plan)}.run();
}

}  // namespace px::cluster
