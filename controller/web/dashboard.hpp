#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/sight/snapshot_board.hpp"
#include "controller/web/web_server.hpp"
#include "net/loop.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"

namespace px::controller {

/// The address of a dashboard, and its protection.
struct DashboardOptions {
  int port = 0;                           ///< 0: a free one.
  std::string token = {};                 ///< Empty: a new one.
  std::set<std::string> host_names = {};  ///< GateOptions::host_names.
  std::size_t most_connections = WebBounds{}.connections;
};

/// The dashboard of a controller: connects the WebServer with the board on which the hub's thread
/// puts snapshots, and with the I/O thread, which sends messages to engines. It keeps the orders
/// that the I/O thread has not taken yet: at most as many as there are connections.
class Dashboard {
 public:
  /// Renders a snapshot for Prometheus; called on the web thread.
  using Metrics = std::string (*)(const Snapshot& snapshot, MetricsFormat format);
  /// An order of a user of the page, and the function that receives its result. It may be destroyed
  /// without a result when the controller ends.
  struct WaitingOrder {
    EngineOrder order;
    WebContent::Answer answer;
  };

  /// Serves at once; before the first snapshot the stream is empty.
  /// board   its listener is set (SnapshotBoard::on_new()).
  /// errors  as WebServer::start().
  static Result<std::unique_ptr<Dashboard>> open(const DashboardOptions& options,
                                                 std::shared_ptr<SnapshotBoard> board,
                                                 Metrics metrics);
  /// Must not run on the hub's thread.
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  /// For the clients' connection file.
  const DashboardAddress& address() const { return address_; }
  /// Wakes this loop when take_orders() has something. Only the thread of the loop calls both
  /// functions.
  void wake_for_orders(net::Waker waker);
  std::vector<WaitingOrder> take_orders();

 private:
  explicit Dashboard(std::shared_ptr<SnapshotBoard> board) : board_(std::move(board)) {}
  const std::shared_ptr<SnapshotBoard> board_;
  DashboardAddress address_;
  std::mutex mutex_;
  std::vector<WaitingOrder> orders_;  // this and the following: guarded by the mutex
  net::Waker waker_;
  std::unique_ptr<WebServer> server_;  // last: its thread uses all of the above
};

}  // namespace px::controller
