#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/async_result.hpp"
#include "client/block.hpp"
#include "client/map_stream.hpp"
#include "client/requests/function.hpp"
#include "client/targets.hpp"

namespace px::client {

struct RequestBody;
struct TaskOptions;

/// The tasks for which a task waits, and the outcomes that satisfy this dependency. All these tasks
/// must belong to the controller to which the waiting task is sent.
struct Dependency {
  std::vector<MessageId> ids;  ///< The msg_ids of the requests of these tasks.
  bool all = true;             ///< Whether to wait for all of them or only for one.
  bool success = true;         ///< Whether a task that succeeded satisfies the dependency.
  bool failure = false;        ///< Whether a task that failed satisfies the dependency.
};

/// The number of engines of one MPI world that run a task together. The function runs once on each
/// of them, with an MPI communicator of these engines: `px::comm()` on C++ engines, `px.mpi.comm()`
/// on Python engines. The result of the task is the result of the first rank.
struct Ranks {
  int least = 1;  ///< The number of engines that the task needs, at least 1.
  int most = 0;   ///< The task gets up to this number if no other task can use them; 0: `least`.
};

/// Options for the tasks of a view: the engines on which tasks may run, the tasks for which they
/// wait, and the number of attempts. By default, a task runs once, on any engine, without waiting
/// for other tasks.
struct BalancedOptions {
  std::optional<Targets> targets = {};    ///< The allowed engines; no value: any engine.
  std::optional<Dependency> after = {};   ///< Run after these tasks have ended.
  std::optional<Dependency> follow = {};  ///< Like `after`; the task runs on their engine.
  Duration timeout = {};  ///< How long to wait for dependencies before the task fails; 0: no limit.
  int retries = 0;        ///< Further attempts after a failure, on other engines.
  Json label = {};        ///< Any JSON; stored in the controller's records.
  std::optional<Ranks> ranks = {};  ///< No value: a task runs on one engine, without MPI.
};

/// How the items of a map are grouped into tasks.
struct MapOptions {
  std::size_t items_per_task = 0;   ///< 0: large tasks first, small tasks last.
  std::size_t max_outstanding = 0;  ///< The most unanswered tasks of map_stream(); 0: no limit.
};

/// Runs tasks on free engines, which the controller chooses. Use a LoadBalancedView for many
/// independent tasks, and a DirectView for work that belongs to particular engines. Copies share
/// the connection. Any thread may use a view.
///
/// All calls return at once; AsyncResult waits for the tasks. Errors of a call itself (no engine,
/// the controller has ended, a bad argument) are thrown as ClientError. The result reports failures
/// of tasks.
class LoadBalancedView {
 public:
  /// Programs usually call Client::balanced() instead of this constructor.
  explicit LoadBalancedView(std::shared_ptr<ClientCore> core, BalancedOptions options = {})
      : core_(std::move(core)), options_(std::move(options)) {}

  /// A view of the same cluster with other options.
  LoadBalancedView with(BalancedOptions options) const {
    return LoadBalancedView{core_, std::move(options)};
  }

  /// Runs source text as one task. The task fails if the options ask for more than one rank.
  /// is_silent  whether the cell gets no number and its last value is not shown.
  AsyncResult execute(const std::string& code, bool is_silent = true) const;
  /// Calls a function once, as one task.
  AsyncResult call(const Function& function, const Arguments& arguments = {},
                   const NamedValues& named = {}) const;
  /// Calls a function once for each of these lists of arguments. Each call is one task. All tasks
  /// are sent together, which takes less time than several calls of call().
  AsyncResult call_each(const Function& function, const std::vector<Arguments>& all) const;

  /// Calls a function for each item of the sequences. The first call gets the first item of each
  /// sequence, the second call gets the second items, and so on. All tasks are sent at once.
  /// get_joined() of the result returns the results in order.
  /// sequences  arrays (their items are the rows along the first axis) or JSON lists.
  /// errors     bad_input: no sequence is given, or the sequences differ in length.
  AsyncResult map(const Function& function, const Arguments& sequences,
                  const MapOptions& options = {}) const;

  /// Does the same as map(), but returns a MapStream, which gives the results as they arrive. At
  /// most options.max_outstanding tasks are unanswered at a time, so that the messages with the
  /// arguments and the results are not all in memory at once.
  /// is_ordered  whether results are returned in the order of the items instead of the order of
  ///             their arrival.
  MapStream map_stream(const Function& function, Arguments sequences, bool is_ordered = true,
                       const MapOptions& options = {}) const;

 private:
  AsyncResult send(std::vector<RequestBody> bodies) const;
  AsyncResult send(std::vector<RequestBody> bodies, const TaskOptions& options) const;
  TaskOptions task_options() const;
  std::vector<Block> cut_into_blocks(std::size_t count, const MapOptions& options) const;
  std::shared_ptr<ClientCore> core_;
  BalancedOptions options_;
};

}  // namespace px::client
