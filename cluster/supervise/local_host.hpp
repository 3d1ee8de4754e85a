#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/commands/console.hpp"
#include "cluster/records/hub_client.hpp"
#include "cluster/supervise/file_watch.hpp"
#include "cluster/supervise/host.hpp"
#include "cluster/supervise/signal_source.hpp"
#include "net/loop.hpp"
#include "os/child_process.hpp"
#include "os/processes.hpp"

namespace px::cluster {

/// What a LocalHost has to know about the cluster that it serves.
struct LocalHostOptions {
  net::ProfilePaths paths;
  std::string engine_set_id;
  bool owns_controller = true;
  bool accepts_old_files = false;  ///< --reuse
  std::function<void(int registered)> on_ready;
};

/// Real processes, files, signals and clock. While it lives the signals of this process are its
/// own.
class LocalHost final : public Host {
 public:
  LocalHost(LocalHostOptions options, Console& console);
  ~LocalHost() override;

  Instant now() override { return Clock::now(); }
  std::vector<Event> wait_until(std::optional<Instant> deadline) override;
  Event start(const StartProcess& order) override;
  void perform(const SendSignal& order) override;
  void perform(const WatchFiles& order) override;
  void perform(const WatchEngines& order) override;
  void perform(const SaveRecord& order) override;
  void perform(const RemoveConnectionFiles& order) override;
  void perform(const Say& order) override;
  void perform(const ShowProgress& order) override;
  void perform(const ReportReady& order) override;

 private:
  struct Child {
    ProcessKey key;
    os::ChildProcess process;
    std::filesystem::path log_file;
    os::Descriptor reports;  // where it tells us things
    std::string rest;        // of a line
  };
  void take_signal(int number);
  void reap();
  void read_reports(int pid);
  void forget_reports(Child& child);
  void look_for_files();
  void ask_for_engines();
  void connect(const ClientConnectionInfo& info);

  LocalHostOptions options_;
  Console& console_;
  os::LocalProcesses processes_;
  net::Context context_;
  net::Loop loop_;
  SignalSource signals_;
  FileWatch file_watch_;
  std::optional<HubClient> hub_;
  std::map<int, Child> children_;         // by pid
  std::optional<Instant> next_look_;      // for the connection files
  std::optional<Instant> next_question_;  // to the controller
  std::vector<Event> events_;
};

/// The last `count` lines of a file, at most 16 KiB of them; empty if it cannot be read.
std::string last_lines(const std::filesystem::path& path, std::size_t count);

}  // namespace px::cluster
