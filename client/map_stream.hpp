#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client/async_result.hpp"
#include "client/block.hpp"

namespace px::client {

/// The results of a map, as a stream: a new task is sent whenever a result is taken, so that a
/// bounded number of tasks is unanswered at any time. For maps that are too large to be sent at
/// once. Move-only; one thread uses it. Get it from LoadBalancedView::map_stream().
class MapStream {
 public:
  /// Sends the first tasks.
  /// send             sends the task of a block; called on the thread that uses the stream.
  /// blocks           the tasks, in the order in which they are sent.
  /// max_outstanding  the most unanswered tasks; 0: no limit.
  /// is_ordered       whether results are returned in the order of the items instead of the order
  ///                  of their arrival.
  MapStream(std::function<AsyncResult(Block)> send, std::vector<Block> blocks,
            std::size_t max_outstanding, bool is_ordered);

  /// The results of one task.
  struct Part {
    Block items;    ///< The items to which they belong.
    Value results;  ///< A sequence with a value for each item.
  };
  /// Waits for the next results and returns them; nothing at the end.
  /// errors  TimeoutError: call it again; RemoteError: the task failed, and the next call continues
  ///         with the other tasks.
  std::optional<Part> next(Timeout timeout = {});

  /// The number of tasks of the whole map; after abort(), the number of tasks sent.
  std::size_t tasks() const { return blocks_.size(); }
  /// The number of tasks whose results were taken, failed ones included.
  std::size_t taken() const { return taken_; }
  /// Cancels the tasks that have not started, and sends no more. next() still returns the results
  /// of the tasks sent.
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
