#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/requests/call.hpp"

#include "python/bindings/notices.hpp"
#include "python/bindings/send_tracker.hpp"

namespace px::bindings {

/// Requests that were sent, of one call or of several: what an AsyncResult of Python stands for.
class Tasks {
 public:
  struct OneTask {
    std::shared_ptr<client::Call> call;
    std::size_t task = 0;
    std::shared_ptr<SendTracker> sending = {};  // of the whole call; null: nothing is tracked
  };
  /// All requests of a call.
  explicit Tasks(const std::shared_ptr<client::Call>& call,
                 const std::shared_ptr<SendTracker>& sending = {});
  explicit Tasks(std::vector<OneTask> parts) : parts_(std::move(parts)) {}
  /// One behind the other.
  static Tasks joined(const std::vector<const Tasks*>& all);
  Tasks select(const std::vector<std::size_t>& which) const;

  std::size_t size() const { return parts_.size(); }
  bool is_one_call() const;
  /// The calls that the tasks are of.
  std::set<std::shared_ptr<client::Call>> calls() const;
  std::vector<std::string> msg_ids() const;
  std::size_t answered() const;
  /// See Call::may_wait_for().
  bool may_wait_for(EngineId engine) const;
  bool is_answered(std::size_t task) const;
  bool is_ready() const;
  bool is_output_complete() const;
  /// Wait; Ctrl-C raises KeyboardInterrupt. False when the time is over.
  bool wait(std::optional<double> seconds) const;
  bool wait_output(std::optional<double> seconds) const;
  bool wait_sent(std::optional<double> seconds) const;

  /// ("ok", the reply's content as bytes, its buffers), or (status, None, failure) where a failure
  /// is (name, value, lines of traceback, engine id, engine uuid, method, exception).
  pybind11::tuple outcome(std::size_t task) const;
  /// What is known of a request, apart from its output.
  pybind11::dict metadata(std::size_t task) const;
  /// What was published for a request so far: (type, content, metadata, buffers).
  pybind11::list publications(std::size_t task) const;
  /// What happened since the event `from`: [(kind, number in this selection, publication or None)],
  /// and the next `from`; waits for something. Precondition: of one call.
  pybind11::tuple events(std::size_t from, std::optional<double> seconds) const;

  /// Puts `token` once all are answered: at once where they are.
  void notify(const std::shared_ptr<Notices>& notices, std::uint64_t token) const;

 private:
  bool is_whole() const { return is_whole_; }
  std::optional<std::size_t> index_of(std::size_t task_of_call) const;
  std::vector<OneTask> parts_;
  bool is_whole_ = false;  // all tasks of one call, in order
};

void bind_tasks(pybind11::module_& module);

}  // namespace px::bindings
