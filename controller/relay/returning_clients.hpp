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

/// Replies for clients of an earlier controller that are not connected again yet. After a
/// controller was started again with the ports of an earlier one, its clients take some seconds to
/// reconnect, while engines already answer. ipyparallel's clients ask for nothing a second time: a
/// reply that is dropped is lost to them.
///
/// A reply lies here from the moment in which its client was found absent until the client is
/// connected, or until `until`, whichever comes first; then it is dropped. For each client replies
/// leave in the order in which they came. Each ClientLink has one. The I/O thread owns it.
class ReturningClients {
 public:
  /// After the start of a controller clients have so long to come back: the server adds it to the
  /// time of the start and gives the sum as `until`.
  static constexpr Duration patience = std::chrono::seconds(10);
  /// So many bytes of replies are kept on one channel; a reply beyond them is dropped.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  /// socket  the clients' side of a channel, a ROUTER that is_mandatory.
  /// until   nothing is kept from then on. In the past for a first controller: it keeps nothing.
  ReturningClients(net::Socket& socket, Instant until) : socket_(socket), until_(until) {}

  /// Keeps a reply that was refused as its client is not there: [idents..., the runs' frames...];
  /// the first of idents is the client.
  void keep(std::span<const std::string_view> idents, std::vector<FrameRun> runs, Instant now);
  /// Tries to send what is kept, every 50 ms.
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
