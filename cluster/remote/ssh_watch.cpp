#include "cluster/remote/ssh_watch.hpp"

#include <algorithm>
#include <charconv>

#include "net/ssh/ssh_complaint.hpp"

namespace px::cluster {
namespace {

constexpr Duration first_pause = std::chrono::seconds(1);
constexpr Duration longest_pause = std::chrono::seconds(15);
/// A pxcluster that stops waits 5 s before it sends SIGKILL.
constexpr Duration stop_patience = std::chrono::milliseconds(4500);
constexpr int ssh_failed = 255;
constexpr int max_tunnel_attempts = 5;

std::string end_text(const std::string& code) {
  if (code == "vanished")
    return "disappeared without an exit code (the host was restarted, or its supervising shell was "
           "killed)";
  int number = 0;
  std::from_chars(code.data(), code.data() + code.size(), number);
  // as a shell tells it
  const os::ProcessEnd end = number > 128 && number < 128 + 65 ? os::ProcessEnd{0, number - 128}
                                                               : os::ProcessEnd{number, 0};
  return end.text();
}

}  // namespace

SshWatch::SshWatch(SshHostPlan plan, std::string connection_info, TunnelMeans means)
    : plan_(std::move(plan)),
      connection_info_(std::move(connection_info)),
      means_(std::move(means)),
      pause_(first_pause) {}

std::vector<WatchEffect> SshWatch::begin(Instant) {
  start_engines();
  return take();
}

void SshWatch::start_engines() {
  if (plan_.is_tunnelled) {
    auto tunnel = plan_reverse_tunnel(connection_info_, means_);
    if (!tunnel) {
      report(Level::error, "cannot open a tunnel to " + plan_.host + ": " + tunnel.error().what, 0);
      return end(1);
    }
    tunnel_ = std::move(*tunnel);
    ++tunnel_attempts_;
  }
  has_main_ = true;
  const std::string& info = plan_.is_tunnelled ? tunnel_.connection_info : connection_info_;
  effects_.emplace_back(
      OpenSession{SshSession::main, ssh_start_script(plan_, info), tunnel_.forwards});
}

// ---------------------------------------------------------------- what the host says

std::vector<WatchEffect> SshWatch::line(SshSession session, std::string_view text, Instant now) {
  const SshLine line = read_ssh_line(text);
  if (line.kind == LineKind::warning) report(Level::warning, line.text);
  if (line.kind == LineKind::log) effects_.emplace_back(KeepLog{line.engine, line.text});
  if (session == SshSession::main && phase_ != Phase::ended) read_main(line, now);
  if (session == SshSession::restart && line.kind == LineKind::failed) failure_ = line.text;
  const bool is_stopped = phase_ == Phase::stopping && session == SshSession::stop;
  if (is_stopped && line.kind == LineKind::done) end_stop(true);
  return take();
}

void SshWatch::read_main(const SshLine& line, Instant now) {
  if (line.kind == LineKind::started) {
    has_started_ = true;
    restarting_.erase(line.engine);
  }
  if (line.kind == LineKind::failed) failure_ = line.text;
  if (line.kind == LineKind::tail && line.engine < static_cast<int>(plan_.engines.size()))
    tails_[line.engine] += "\n    | " + line.text;
  if (line.kind == LineKind::ended) engine_ended(line.engine, line.text);
  if (line.kind != LineKind::watching || phase_ == Phase::stopping) return;
  if (phase_ == Phase::looking)
    report(Level::info, "the connection to " + plan_.host + " is open again");
  phase_ = Phase::watching;
  pause_ = first_pause;
  deadline_.reset();
  if (wants_stop_) begin_stop(now);
}

void SshWatch::engine_ended(int engine, const std::string& code) {
  const bool is_known = engine < static_cast<int>(plan_.engines.size());
  if (!is_known || ended_.contains(engine) || restarting_.contains(engine)) return;
  ended_[engine] = {.is_failure = code != "0"};
  if (phase_ == Phase::stopping) return;
  std::string text =
      "engine " + std::to_string(engine) + " on " + plan_.host + " " + end_text(code);
  if (code != "0") {
    const std::string tail = tails_[engine];
    text += tail.empty() ? "; its log is empty" : "; the last lines of its log:" + tail;
    if (!plan_.is_tunnelled && tail.find("no controller answers") != std::string::npos)
      text += "\n    if only ssh is open to " + plan_.host + ", use --tunnel";
  }
  report(code == "0" ? Level::info : Level::warning, text, living());
}

// ---------------------------------------------------------------- the connection

std::vector<WatchEffect> SshWatch::closed(SshSession session, const os::ProcessEnd& end_of_ssh,
                                          const std::string& complaint, Instant now) {
  if (phase_ == Phase::ended || session == SshSession::one_shot) return {};
  if (session == SshSession::restart) {
    if (end_of_ssh.is_failure()) restart_closed(complaint);
    return take();
  }
  if (session == SshSession::stop) {
    if (phase_ == Phase::stopping) end_stop(false);
    return take();
  }
  has_main_ = false;
  if (phase_ == Phase::stopping) return {};
  if (living() == 0) {
    // The stop script fetches the logs and removes what is there of this run.
    begin_stop(now);
  } else if (phase_ == Phase::starting && !has_started_) {
    const bool is_port_taken = plan_.is_tunnelled && net::says_remote_port_is_taken(complaint);
    if (is_port_taken && !wants_stop_ && tunnel_attempts_ < max_tunnel_attempts)
      start_engines();
    else
      could_not_start(end_of_ssh, complaint);
  } else {
    lost_connection(complaint, now);
  }
  return take();
}

void SshWatch::could_not_start(const os::ProcessEnd& end_of_ssh, const std::string& complaint) {
  std::string text;
  if (!failure_.empty())
    text = "cannot start engines on " + plan_.host + ": " + failure_;
  else if (end_of_ssh.exit_code == ssh_failed)
    text = "ssh cannot connect to " + plan_.host + ": " +
           (complaint.empty() ? "ssh gave no reason" : complaint) +
           net::ssh_advice(complaint, plan_.host);
  else
    text = "the shell on " + plan_.host + " " + end_of_ssh.text() +
           " before the engines were started" + (complaint.empty() ? "" : ": " + complaint);
  report(Level::error, text, 0);
  end(1);
}

void SshWatch::lost_connection(const std::string& complaint, Instant now) {
  if (wants_stop_) return begin_stop(now);
  if (plan_.is_tunnelled && net::says_remote_port_is_taken(complaint))
    effects_.emplace_back(OpenSession{SshSession::one_shot, ssh_release_script(plan_)});
  if (phase_ != Phase::looking)
    report(Level::warning, "the connection to " + plan_.host + " broke" +
                               (complaint.empty() ? "" : " (" + complaint + ")") +
                               "; its engines keep running; reconnecting");
  phase_ = Phase::broken;
  deadline_ = now + pause_;
  pause_ = std::min(2 * pause_, longest_pause);
}

std::vector<WatchEffect> SshWatch::on_time(Instant now) {
  if (!deadline_ || now < *deadline_) return {};
  deadline_.reset();
  if (phase_ == Phase::broken) {
    phase_ = Phase::looking;
    has_main_ = true;
    effects_.emplace_back(OpenSession{SshSession::main, ssh_watch_script(plan_), tunnel_.forwards});
  } else if (phase_ == Phase::stopping) {
    end_stop(false);
  } else if (phase_ == Phase::starting && wants_stop_) {
    begin_stop(now);
  }
  return take();
}

// ---------------------------------------------------------------- single engines

std::vector<WatchEffect> SshWatch::restart(const WatchOrder& order) {
  if (phase_ != Phase::watching) {
    report(Level::error, "there is no connection to " + plan_.host +
                             " at present: its engines cannot be restarted one by one");
    return take();
  }
  std::vector<int> engines;
  for (const int engine : order.engines) {
    if (engine < 0 || engine >= static_cast<int>(plan_.engines.size())) continue;
    engines.push_back(engine);
    restarting_.insert(engine);
    ended_.erase(engine);
    tails_.erase(engine);
  }
  connection_info_ = order.connection_info;
  const auto redirected = unpack(Packer::json, tunnel_.connection_info);
  if (plan_.is_tunnelled && redirected)
    tunnel_.connection_info = with_told_beside(*redirected, connection_info_);
  failure_.clear();
  report(Level::debug, "restarting engines on " + plan_.host, living());
  effects_.emplace_back(OpenSession{
      SshSession::restart,
      ssh_restart_script(plan_, engines,
                         plan_.is_tunnelled ? tunnel_.connection_info : connection_info_)});
  return take();
}

/// Without having started all of them.
void SshWatch::restart_closed(const std::string& complaint) {
  for (const int engine : std::exchange(restarting_, {})) ended_[engine] = {.is_failure = true};
  if (phase_ == Phase::stopping) return;
  report(Level::error,
         "cannot start engines again on " + plan_.host + ": " +
             (!failure_.empty()   ? failure_
              : complaint.empty() ? "ssh gave no reason"
                                  : complaint),
         living());
}

// ---------------------------------------------------------------- the end

std::vector<WatchEffect> SshWatch::stop(Instant now) {
  if (phase_ == Phase::stopping || phase_ == Phase::ended) return {};
  if (phase_ == Phase::starting && !wants_stop_) {
    // What is being started now would be missed.
    wants_stop_ = true;
    deadline_ = now + stop_patience / 2;
    return {};
  }
  begin_stop(now);
  return take();
}

void SshWatch::begin_stop(Instant now) {
  const bool is_cut = phase_ == Phase::broken || phase_ == Phase::looking;
  if (is_cut && has_main_) {
    effects_.emplace_back(CloseSession{SshSession::main});
    has_main_ = false;
  }
  phase_ = Phase::stopping;
  deadline_ = now + stop_patience;
  effects_.emplace_back(OpenSession{SshSession::stop, ssh_stop_script(plan_)});
}

void SshWatch::end_stop(bool is_done) {
  const bool had_failures = std::any_of(ended_.begin(), ended_.end(),
                                        [](const auto& item) { return item.second.is_failure; });
  if (!is_done)
    report(Level::error, plan_.host +
                             " does not answer: its engines will end when they notice "
                             "that the controller has stopped");
  end(!is_done || (had_failures && living() == 0) ? 1 : 0);
}

void SshWatch::end(int exit_code) {
  phase_ = Phase::ended;
  deadline_.reset();
  if (has_main_) effects_.emplace_back(CloseSession{SshSession::main});
  effects_.emplace_back(CloseSession{SshSession::stop});
  effects_.emplace_back(EndWatch{exit_code});
}

std::vector<WatchEffect> SshWatch::pass_on(const std::string& signal) {
  if (phase_ != Phase::watching) return {};
  return {OpenSession{SshSession::one_shot, ssh_signal_script(plan_, signal)}};
}

void SshWatch::report(Level level, std::string text, std::optional<int> engine_count) {
  effects_.emplace_back(SayReport{{level, std::move(text), engine_count}});
}

}  // namespace px::cluster
