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

struct TaskOptions;

/// Tasks of the same controller that a task waits for, and which of their outcomes satisfy it.
struct Dependency {
  std::vector<MessageId> ids;  ///< The msg_ids of the requests of these tasks.
  bool all = true;             ///< Whether to wait for all of them or only for one.
  bool success = true;         ///< Whether a task that succeeded satisfies it.
  bool failure = false;        ///< Whether a task that failed satisfies it.
};

/// On which engines, when and how often the tasks of a view may run. The defaults: on any engine,
/// at once, a single time.
struct BalancedOptions {
  std::optional<Targets> targets = {};    ///< Allowed engines; nothing: any engine.
  std::optional<Dependency> after = {};   ///< Run once these tasks have ended.
  std::optional<Dependency> follow = {};  ///< The same, on the engine where they ran.
  Duration timeout = {};  ///< How long to wait for dependencies before the task fails; 0: no limit.
  int retries = 0;        ///< Further attempts after a failure, on other engines.
  Json label = {};        ///< Any JSON; stored in the controller's records.
};

/// How the items of a map are grouped into tasks.
struct MapOptions {
  std::size_t items_per_task = 0;   ///< 0: large tasks first, small ones last.
  std::size_t max_outstanding = 0;  ///< For map_stream(): most unanswered tasks; 0: no limit.
};

/// Runs tasks on engines that are free; the controller chooses them. Use it for many independent
/// tasks, and a DirectView for work that belongs to particular engines. A value; any thread may use
/// it; copies share the connection.
///
/// All calls return at once; AsyncResult waits. Errors of a call itself (no engine, the controller
/// has ended, a bad argument) are thrown as ClientError; failures of tasks are reported by the
/// result.
class LoadBalancedView {
 public:
  /// Client::balanced() is the usual way to get one.
  explicit LoadBalancedView(std::shared_ptr<ClientCore> core, BalancedOptions options = {})
      : core_(std::move(core)), options_(std::move(options)) {}

  /// A view of the same cluster with other options.
  LoadBalancedView with(BalancedOptions options) const {
    return LoadBalancedView{core_, std::move(options)};
  }

  /// Runs source text as one task.
  /// is_silent  the cell gets no number, and its last value is not shown.
  AsyncResult execute(const std::string& code, bool is_silent = true) const;
  /// Calls a function once, as one task.
  AsyncResult call(const Function& function, const Arguments& arguments = {},
                   const NamedValues& named = {}) const;
  /// Calls a function once for each of these lists of arguments, each call as one task. Sends all
  /// tasks together, which costs less than as many calls of call().
  AsyncResult call_each(const Function& function, const std::vector<Arguments>& all) const;

  /// Calls a function for each item of the sequences: with the first items of all of them, then
  /// with the second ones, and so on. Sends all tasks at once; get_joined() has the results in
  /// order.
  /// sequences  arrays, by their first axis, or JSON lists.
  /// errors     bad_input: no sequence, or they differ in length.
  AsyncResult map(const Function& function, const Arguments& sequences,
                  const MapOptions& options = {}) const;

  /// Like map(), but as a stream: sends at most options.max_outstanding tasks at a time and returns
  /// results as they arrive, so that neither all arguments nor all results are in memory at once.
  /// is_ordered  whether results are returned in the order of the items instead of the order of
  ///             their arrival.
  MapStream map_stream(const Function& function, Arguments sequences, bool is_ordered = true,
                       const MapOptions& options = {}) const;

 private:
  TaskOptions task_options() const;
  std::vector<Block> cut_into_blocks(std::size_t count, const MapOptions& options) const;
  std::shared_ptr<ClientCore> core_;
  BalancedOptions options_;
};

}  // namespace px::client
