#include "controller/web/dashboard.hpp"

#include <utility>

#include "controller/sight/snapshot_json.hpp"
#include "controller/web/page_files.hpp"
#include "wire/ids.hpp"

namespace px::controller {

Result<std::unique_ptr<Dashboard>> Dashboard::open(const DashboardOptions& options,
                                                   std::shared_ptr<SnapshotBoard> board,
                                                   Metrics metrics) {
  const SnapshotBoard* const source = board.get();
  std::unique_ptr<Dashboard> dashboard{new Dashboard{std::move(board)}};
  const std::string token = options.token.empty() ? new_key() : options.token;
  WebContent content{.token = token,
                     .host_names = options.host_names,
                     .files = find_page_files(),
                     .snapshot =
                         [source] {
                           const auto latest = source->latest();
                           return latest ? pack(Packer::json, snapshot_as_json(*latest))
                                         : std::string();
                         },
                     .metrics =
                         [source, metrics](MetricsFormat format) {
                           const auto latest = source->latest();
                           return latest ? metrics(*latest, format) : std::string();
                         },
                     .pass_order =
                         [self = dashboard.get()](EngineOrder order, WebContent::Answer answer) {
                           const std::lock_guard lock{self->mutex_};
                           self->orders_.push_back({std::move(order), std::move(answer)});
                           self->waker_.wake();
                         }};
  auto server =
      WebServer::start(options.port, std::move(content), {.connections = options.most_connections});
  if (!server) return server.error();
  dashboard->server_ = std::move(*server);
  dashboard->address_ = {dashboard->server_->port(), token};
  dashboard->board_->on_new(
      [server = dashboard->server_.get()](const auto&) { server->publish(); });
  return dashboard;
}

Dashboard::~Dashboard() {
  if (server_) board_->on_new(nullptr);
}

void Dashboard::wake_for_orders(net::Waker waker) {
  const std::lock_guard lock{mutex_};
  waker_ = std::move(waker);
}

std::vector<Dashboard::WaitingOrder> Dashboard::take_orders() {
  const std::lock_guard lock{mutex_};
  return std::exchange(orders_, {});
}

}  // namespace px::controller
