#include "controller/relay/returning_clients.hpp"

#include <set>
#include <utility>

namespace px::controller {
namespace {

constexpr Duration between_attempts = std::chrono::milliseconds(50);

}  // namespace

void ReturningClients::keep(std::span<const std::string_view> idents, std::vector<FrameRun> runs,
                            Instant now) {
  const std::size_t bytes = total_bytes(runs);
  if (now >= until_ || bytes_ + bytes > most_bytes) return;
  if (replies_.empty()) next_try_ = now + between_attempts;
  bytes_ += bytes;
  replies_.push_back({{idents.begin(), idents.end()}, std::move(runs)});
}

void ReturningClients::on_time(Instant now) {
  if (replies_.empty() || now < next_try_) return;
  next_try_ = now + between_attempts;
  std::set<std::string> absent;
  bytes_ = 0;
  for (Reply& reply : std::exchange(replies_, {})) {
    const std::string client = reply.idents.front();
    if (!absent.contains(client) && try_send(reply)) continue;
    absent.insert(client);
    if (now >= until_) continue;
    bytes_ += total_bytes(reply.runs);
    replies_.push_back(std::move(reply));
  }
}

std::optional<Instant> ReturningClients::next_deadline() const {
  return replies_.empty() ? std::nullopt : std::optional(next_try_);
}

bool ReturningClients::try_send(const Reply& reply) {
  const std::vector<std::string_view> idents{reply.idents.begin(), reply.idents.end()};
  return socket_.forward(idents, runs_to_send(reply.runs));
}

}  // namespace px::controller
