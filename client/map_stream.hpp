#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client/async_result.hpp"
#include "client/block.hpp"

namespace px::client {

/// Returns the results of a map one after the other, for maps that are too large to be sent at
/// once. A new task is sent whenever a result is taken, so that the number of unanswered tasks is
/// limited. Move-only. Only one thread may use a MapStream. LoadBalancedView::map_stream() returns
/// it.
class MapStream {
 public:
  /// Sends the first tasks.
  /// send             a function that sends the task of a block; called on the thread that uses the
  ///                  stream.
  /// blocks           the tasks, in the order in which they are sent.
  /// max_outstanding  the largest number of unanswered tasks; 0 means no limit.
  /// is_ordered       whether results are returned in the order of the items instead of the order
  ///                  of their arrival.
  MapStream(std::function<AsyncResult(Block)> send, std::vector<Block> blocks,
            std::size_t max_outstanding, bool is_ordered);

  /// The results of one task.
  struct Part {
    Block items;    ///< The items to which the results belong.
    Value results;  ///< A sequence with a value for each item.
  };
  /// Waits for the next results and returns them. At the end of the map, returns no value.
  /// errors  TimeoutError: the results have not arrived in time, and the caller may call next()
  ///         again; RemoteError: the task failed, and the next call continues with the remaining
  ///         tasks.
  std::optional<Part> next(Timeout timeout = {});

  /// The number of tasks of the whole map; after abort(), the number of tasks sent.
  std::size_t tasks() const { return blocks_.size(); }
  /// The number of tasks whose results were taken, including failed tasks.
  std::size_t taken() const { return taken_; }
  /// Cancels the tasks that have not started, and sends no more tasks. next() still returns the
  /// results of the tasks that were sent.
  void abort();

 private:
  struct Answered;
  void fill();
  std::size_t wait_for_one(Timeout timeout);

  std::function<AsyncResult(Block)> send_;
  std::vector<Block> blocks_;
  std::size_t max_outstanding_;
  bool is_ordered_;
  std::vector<std::optional<AsyncResult>> results_;  // of the tasks sent
  std::size_t taken_ = 0;
  std::shared_ptr<Answered> answered_;
};

}  // namespace px::client
