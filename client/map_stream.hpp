#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client/async_result.hpp"
#include "client/block.hpp"

namespace px::client {

/// A map whose tasks are sent while its results are taken: never more than a bounded number at a
/// time. Move-only; one thread uses it.
class MapStream {
 public:
  /// send     sends the task of a block.
  /// blocks   in the order in which they are sent.
  /// is_ordered  results in the order of the items; otherwise as they come.
  MapStream(std::function<AsyncResult(Block)> send, std::vector<Block> blocks,
            std::size_t max_outstanding, bool is_ordered);

  /// Results that came together.
  struct Part {
    Block items;    ///< Whose results these are.
    Value results;  ///< A sequence of as many values.
  };
  /// The next results; nothing at the end.
  /// errors  RemoteError: the task failed; the next call goes on with the others. TimeoutError.
  std::optional<Part> next(Timeout timeout = {});

  /// How many tasks the whole map has.
  std::size_t tasks() const { return blocks_.size(); }
  /// How many tasks' results were taken.
  std::size_t taken() const { return taken_; }
  /// What has not begun yet is not to run; nothing more is sent.
  void abort();

 private:
  struct Answered;
  void fill();
  std::size_t wait_for_one(Timeout timeout);

  std::function<AsyncResult(Block)> send_;
  std::vector<Block> blocks_;
  std::size_t max_outstanding_;
  bool is_ordered_;
  std::vector<std::optional<AsyncResult>> results_;  // of the tasks that were sent
  std::size_t taken_ = 0;
  std::shared_ptr<Answered> answered_;
};

}  // namespace px::client
