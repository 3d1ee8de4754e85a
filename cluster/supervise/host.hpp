#pragma once

#include <optional>
#include <vector>

#include "cluster/supervise/supervisor.hpp"

namespace px::cluster {

/// The world that a Supervisor acts on: processes, files, the controller, the user. LocalHost is
/// the real one; a test has a FakeHost.
class Host {
 public:
  virtual ~Host() = default;
  virtual Instant now() = 0;
  /// Sleeps until something happens or the deadline has passed. The only place that sleeps.
  virtual std::vector<Event> wait_until(std::optional<Instant> deadline) = 0;
  /// Starts it, and says what came of it: ProcessStarted or ProcessEnded.
  virtual Event start(const StartProcess& order) = 0;
  virtual void perform(const SendSignal& order) = 0;
  virtual void perform(const WatchFiles& order) = 0;
  virtual void perform(const WatchEngines& order) = 0;
  virtual void perform(const SaveRecord& order) = 0;
  virtual void perform(const RemoveConnectionFiles& order) = 0;
  virtual void perform(const Say& order) = 0;
  virtual void perform(const ShowProgress& order) = 0;
  virtual void perform(const ReportReady& order) = 0;
};

/// Lets `supervisor` live on `host` until it ends; gives the exit code.
int run(Supervisor& supervisor, Host& host);

}  // namespace px::cluster
