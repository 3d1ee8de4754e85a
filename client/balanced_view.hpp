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

/// Other tasks of the same controller that a task waits for, and which of their ends count.
struct Dependency {
  std::vector<MessageId> ids;  ///< The tasks, by the msg_ids of their requests.
  bool all = true;             ///< Whether to wait for all of them or for any one.
  bool success = true;         ///< Whether a task that succeeded counts ...
  bool failure = false;        ///< ... and one that failed.
};

/// Where, when and how often the tasks of a view may run. The defaults: on any engine, at once, a
/// single time.
struct BalancedOptions {
  std::optional<Targets> targets = {};    ///< Nothing: any engine.
  std::optional<Dependency> after = {};   ///< Run once these tasks have ended.
  std::optional<Dependency> follow = {};  ///< The same, on the engine where they ran.
  Duration timeout = {};  ///< For its dependencies: it fails after that; 0 = no limit.
  int retries = 0;        ///< More attempts after a failure, on other engines.
  Json label = {};        ///< Any JSON; kept in the controller's records.
};

/// How the items of a map are grouped into tasks.
struct MapOptions {
  std::size_t items_per_task = 0;   ///< 0: large tasks first, small ones last.
  std::size_t max_outstanding = 0;  ///< Of map_stream(): unanswered tasks; 0: no bound.
};

/// Runs tasks on whichever engine is free; the controller chooses. Use it for many independent
/// tasks, and a DirectView for work that belongs to particular engines. A value; any thread may use
/// it; copies share the connection.
///
/// All calls return at once; AsyncResult waits. What is wrong with a call itself (no engine, the
/// controller has ended, a bad argument) is thrown as ClientError; failures of tasks come with the
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
  /// Calls a function with each of these lists of arguments, one task each. Sends all together,
  /// which is cheaper than as many calls of call().
  AsyncResult call_each(const Function& function, const std::vector<Arguments>& all) const;

  /// Calls a function for each item of the sequences: with the first items of all of them, then
  /// with the second ones, and so on. Sends all tasks at once; get_joined() has the results in
  /// order.
  /// sequences  arrays, by their first axis, or JSON lists.
  /// errors     bad_input: no sequence, or they differ in length.
  AsyncResult map(const Function& function, const Arguments& sequences,
                  const MapOptions& options = {}) const;

  /// The same as a stream: sends at most options.max_outstanding tasks at a time and returns
  /// results as they come, so that neither all arguments nor all results are in memory at once.
  /// is_ordered  results in the order of the items; otherwise in the order in which they come.
  MapStream map_stream(const Function& function, Arguments sequences, bool is_ordered = true,
                       const MapOptions& options = {}) const;

 private:
  TaskOptions task_options() const;
  std::vector<Block> cut_into_blocks(std::size_t count, const MapOptions& options) const;
  std::shared_ptr<ClientCore> core_;
  BalancedOptions options_;
};

}  // namespace px::client
