#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "net/loop.hpp"
#include "net/socket.hpp"
#include "wire/connection_info.hpp"
#include "wire/session.hpp"

namespace px::bench {

/// Sends requests as fast as it may and counts the answers.
class LoadClient {
 public:
  explicit LoadClient(const std::filesystem::path& client_file);

  /// Waits until every engine answers directly and balanced.  False after a minute.
  bool wait_for_engines(std::size_t engine_count, bool is_raw);

  /// Waits until the controller knows all engines.  False after three minutes.
  bool wait_for_registration(std::size_t engine_count);

  /// The uuids of the engines that the controller has.
  /// Throws: std::runtime_error if the controller does not answer within a minute.
  std::set<std::string> registered_engines();

  /// From now on it receives, and drops, what engines publish, as every real client does.
  void listen_to_output();

  struct Run {
    double seconds = 0;
    std::size_t answered = 0;   ///< Requests with at least one answer.
    std::size_t repeated = 0;   ///< Answers beyond the first.
    std::vector<double> waits;  ///< Seconds from sending to the answer, in the order of answers.
    double per_second() const { return static_cast<double>(answered) / seconds; }
    /// In microseconds.
    double median_us() const;
  };

  enum class Scheme { direct, balanced };
  enum class Request { apply, execute };
  struct Load {
    Scheme scheme = Scheme::direct;
    Request request = Request::apply;
    std::size_t count = 1000;
    std::size_t window = 1;        ///< At most so many are not answered yet.
    std::size_t engine_count = 1;  ///< Direct requests go to these in turn.
    std::size_t payload_bytes = 100;
    int retries = 0;  ///< Of balanced requests.
    Duration patience = std::chrono::seconds(10);
    /// Called after each answer with the number of answers.
    std::function<void(std::size_t)> on_answer = {};
  };
  /// Gives up `patience` after the last answer.
  Run run(const Load& load);

  /// `rounds` times one request to each of all engines, all answers awaited: the waits are those
  /// of whole rounds.
  Run fan_out(std::size_t rounds, std::size_t engine_count, Request request = Request::apply);

 private:
  void send(const Load& load, std::size_t number);
  bool receive(Scheme scheme, Run& run);
  void forget_run();
  bool is_answered(const Load& load, std::size_t number, Instant end);
  net::Socket& socket(Scheme scheme) { return scheme == Scheme::direct ? mux_ : task_; }

  ClientConnectionInfo info_;
  net::Context context_;
  Session session_;
  net::Socket mux_, task_, registration_;
  std::optional<net::Socket> output_;
  net::Loop loop_;
  std::size_t first_ = 0;      // the number of a run's first message
  std::vector<Instant> sent_;  // of this run
  std::vector<bool> answers_;
  std::string payload_;
};

}  // namespace px::bench
