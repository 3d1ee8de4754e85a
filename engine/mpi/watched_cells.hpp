#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "interpreters/interpreter.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// Functions that are called when user code runs: those of MPI's library of steps. The main thread
/// makes all calls.
struct CellWatch {
  /// User code is about to run.
  /// number  the same for the same cell on all ranks.
  std::function<void(std::uint64_t number)> begin;
  /// It has ended.
  /// failure  set if it ended with an error: what the rank did, "raised ValueError: x".
  std::function<void(const std::optional<std::string>& failure)> end;
  /// Called while no user code runs. Returns the longest time until the next call; nothing: no
  /// further call is needed.
  std::function<std::optional<Duration>()> tick;
};

/// An interpreter that calls a CellWatch for each of its cells.
class WatchedCells final : public interpreters::Interpreter {
 public:
  /// Both must outlive it; a watch without functions does nothing.
  WatchedCells(interpreters::Interpreter& watched, const CellWatch& watch)
      : watched_(watched), watch_(watch) {}

  Json execute(const interpreters::Execution& execution) override;
  interpreters::ApplyResult apply(const interpreters::Application& application) override;
  interpreters::ApplyResult serve(const interpreters::NativeRequest& request) override;
  Json complete(const std::string& code, int cursor) override {
    return watched_.complete(code, cursor);
  }
  Json inspect(const std::string& code, int cursor, int detail_level) override {
    return watched_.inspect(code, cursor, detail_level);
  }
  Json is_complete(const std::string& code) override { return watched_.is_complete(code); }
  Json history(const Json& request) override { return watched_.history(request); }
  Json kernel_info() override { return watched_.kernel_info(); }
  void comm(const interpreters::CommMessage& message) override { watched_.comm(message); }
  Json comm_info(const Json& request) override { return watched_.comm_info(request); }
  void clear() override { watched_.clear(); }
  void on_wake() override { watched_.on_wake(); }
  void before_request() override { watched_.before_request(); }

 private:
  template <typename Work>
  interpreters::ApplyResult run(std::uint64_t number, const Work& work);

  interpreters::Interpreter& watched_;
  const CellWatch& watch_;
};

}  // namespace px::engine
