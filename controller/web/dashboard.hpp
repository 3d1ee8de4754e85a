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

/// Where a dashboard is, and for whom.
struct DashboardOptions {
  int port = 0;                           ///< 0: a free one.
  std::string token = {};                 ///< Empty: a new one.
  std::set<std::string> host_names = {};  ///< GateOptions::host_names.
  std::size_t most_connections = WebBounds{}.connections;
};

/// The dashboard of a controller: joins the WebServer with the board on which the hub's thread puts
/// snapshots, and with the I/O thread, which talks to engines. It keeps the orders that the I/O
/// thread has not taken yet: as many as there are connections.
class Dashboard {
 public:
  /// Renders a snapshot for Prometheus; called on the web thread.
  using Metrics = std::string (*)(const Snapshot& snapshot, MetricsFormat format);
  /// An order that a user of the page has given, and who waits for how it went. Dropping it unheard
  /// is allowed when the controller ends.
  struct WaitingOrder {
    EngineOrder order;
    WebContent::Answer answer;
  };

  /// Serves at once; before the first snapshot the stream is silent.
  /// board   it listens there (SnapshotBoard::on_new()).
  /// errors  as WebServer::start().
  static Result<std::unique_ptr<Dashboard>> open(const DashboardOptions& options,
                                                 std::shared_ptr<SnapshotBoard> board,
                                                 Metrics metrics);
  /// On no thread of the hub's.
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  /// For the clients' connection file.
  const DashboardAddress& address() const { return address_; }
  /// Wakes this loop when take_orders() has something. The thread of the loop calls both.
  void wake_for_orders(net::Waker waker);
  std::vector<WaitingOrder> take_orders();

 private:
  explicit Dashboard(std::shared_ptr<SnapshotBoard> board) : board_(std::move(board)) {}
  const std::shared_ptr<SnapshotBoard> board_;
  DashboardAddress address_;
  std::mutex mutex_;
  std::vector<WaitingOrder> orders_;  // this and what follows: under the mutex
  net::Waker waker_;
  std::unique_ptr<WebServer> server_;  // last: its thread uses all of the above
};

}  // namespace px::controller
