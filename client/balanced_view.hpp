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

/// What a task waits for: other tasks of the same controller.
struct Dependency {
  std::vector<MessageId> ids;  ///< The tasks, by the ids of their requests.
  bool all = true;             ///< All of them, or any one.
  bool success = true;         ///< One that went well counts ...
  bool failure = false;        ///< ... one that failed counts.
};

/// Where, when and how often the tasks of a view may run.
struct BalancedOptions {
  std::optional<Targets> targets = {};    ///< Nothing: any engine.
  std::optional<Dependency> after = {};   ///< May run once these tasks have ended so.
  std::optional<Dependency> follow = {};  ///< After these, on the engine where they ran.
  Duration timeout = {};  ///< Waiting longer than this for its dependencies fails; 0 = never.
  int retries = 0;        ///< Further attempts, on other engines, after a failure.
  Json label = {};        ///< Any JSON; shown by the controller's records.
};

/// How a map is cut into tasks.
struct MapOptions {
  std::size_t items_per_task = 0;   ///< 0: chosen so that 10^5 tiny items are cheap.
  std::size_t max_outstanding = 0;  ///< Tasks that are sent and not answered; 0: no bound.
};

/// Runs tasks on whichever engine is free. A value; any thread may use it; copies share the
/// connection.
class LoadBalancedView {
 public:
  /// Client::balanced() is the usual way to get one.
  explicit LoadBalancedView(std::shared_ptr<ClientCore> core, BalancedOptions options = {})
      : core_(std::move(core)), options_(std::move(options)) {}

  /// The same view with other options.
  LoadBalancedView with(BalancedOptions options) const {
    return LoadBalancedView{core_, std::move(options)};
  }

  /// Runs source text as one task.  is_silent  no number, and its last value is not shown.
  AsyncResult execute(const std::string& code, bool is_silent = true) const;
  /// Calls a function once.
  AsyncResult call(const Function& function, const Arguments& arguments = {},
                   const NamedValues& named = {}) const;
  /// The same function with each of these arguments, one task each: cheaper than as many calls.
  AsyncResult call_each(const Function& function, const std::vector<Arguments>& all) const;

  /// Calls a function for each item: of several sequences with the first items of all, then with
  /// the second ones ... Sent at once; get_joined() has the results in order.
  /// errors  bad_input: no sequence, or they differ in length.
  AsyncResult map(const Function& function, const Arguments& sequences,
                  const MapOptions& options = {}) const;

  /// The same, a bounded number of tasks at a time, results as they come.
  MapStream map_stream(const Function& function, Arguments sequences, bool is_ordered = true,
                       const MapOptions& options = {}) const;

 private:
  TaskOptions task_options() const;
  std::vector<Block> cut(std::size_t count, const MapOptions& options) const;
  std::shared_ptr<ClientCore> core_;
  BalancedOptions options_;
};

}  // namespace px::client
