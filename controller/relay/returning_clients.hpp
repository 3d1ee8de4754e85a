#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/relay/frame_run.hpp"
#include "net/socket.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// Replies for clients of an earlier controller that are not connected again yet. Those of
/// ipyparallel ask for nothing a second time: a reply that is dropped is lost to them.
class ReturningClients {
 public:
  /// After the start of a controller clients have so long to come back.
  static constexpr Duration patience = std::chrono::seconds(10);
  /// So much is kept for them; more is dropped.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  /// socket  the clients' side of a channel, a ROUTER.
  /// until   nothing is kept from then on.
  ReturningClients(net::Socket& socket, Instant until) : socket_(socket), until_(until) {}

  /// Keeps a reply that was refused as its client is not there: [idents..., the runs' frames...];
  /// the first of idents is the client.
  void keep(std::span<const std::string_view> idents, std::vector<FrameRun> runs, Instant now);
  /// Sends what can be sent now.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  struct Reply {
    std::vector<std::string> idents;
    std::vector<FrameRun> runs;
  };
  bool try_send(const Reply& reply);

  net::Socket& socket_;
  const Instant until_;
  std::deque<Reply> replies_;
  std::size_t bytes_ = 0;
  Instant next_try_{};
};

}  // namespace px::controller
