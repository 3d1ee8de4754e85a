#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include <px/engine/engine.hpp>
#include <px/net/descriptor.hpp>

namespace px {

/// The Engine, shared by the I/O thread, which puts requests in, and the main thread, which takes
/// them out. Any thread may call it.
class Inbox {
 public:
  /// wake_descriptor  readable when a signal handler of the interpreter wants to run; -1 = none.
  Inbox(EngineUuid uuid, Packer packer);

  std::vector<Effect> arrive(RequestPtr request);
  std::vector<Effect> answer(const RequestPtr& request);
  std::vector<Effect> answer_aborted(const RequestPtr& request);
  void abort_queued_executions();
  void set_id(EngineId id);
  EngineIdentity identity() const;
  bool is_busy() const;
  std::size_t queued() const;

  /// For the main thread: waits for the next request; nothing when the engine is to end.
  /// on_wake runs when a signal or wake() ended the wait; it may run often.
  std::optional<Job> wait(int signal_descriptor, const std::function<void()>& on_wake);
  void finish();

  /// Ends the present or the next wait for a moment. Async-signal-safe.
  void wake() const;
  /// From now on wait() returns nothing.
  void stop();

 private:
  std::optional<Job> take(bool& is_stopped);

  mutable std::mutex mutex_;
  Engine engine_;
  bool is_stopped_ = false;
  Descriptor event_;
};

}  // namespace px
