#include "engine/held_results.hpp"

#include <algorithm>
#include <utility>

namespace px::engine {

std::optional<os::HeldBuffers> HeldResults::take(std::vector<SharedBytes>& buffers, Instant now) {
  os::HeldBuffers named;
  HeldResult held;
  std::uint64_t together = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::uint64_t bytes = buffers[i].bytes.size();
    if (bytes < least_held_bytes) continue;
    named.buffers.push_back({i, bytes});
    together += bytes;
  }
  if (together < least_held_together) return std::nullopt;
  for (const os::HeldBuffers::Buffer& each : named.buffers)
    held.buffers.emplace(each.index, std::exchange(buffers[each.index], {}));
  held.touched = now;
  const std::lock_guard lock{mutex_};
  named.name = std::to_string(++count_);
  held_.emplace(named.name, std::move(held));
  return named;
}

Result<SharedBytes> HeldResults::read(const os::FetchedPiece& piece, Instant now) {
  const std::lock_guard lock{mutex_};
  const auto found = held_.find(piece.name);
  if (found == held_.end())
    return Error{ErrorKind::not_found,
                 "the engine no longer has the large buffers of this result: its client has "
                 "fetched them or has requested no piece for two minutes; run it again"};
  const auto buffer = found->second.buffers.find(piece.index);
  if (buffer == found->second.buffers.end())
    return Error{ErrorKind::not_found,
                 "this result has no held buffer " + std::to_string(piece.index)};
  const auto& [bytes, owner] = buffer->second;
  if (piece.offset >= bytes.size() || piece.length > bytes.size() - piece.offset)
    return Error{ErrorKind::bad_input, "a piece does not lie in its buffer"};
  found->second.touched = now;
  return SharedBytes{bytes.substr(piece.offset, piece.length), owner};
}

void HeldResults::release(const std::string& name) {
  const std::lock_guard lock{mutex_};
  held_.erase(name);
}

void HeldResults::on_time(Instant now) {
  const std::lock_guard lock{mutex_};
  std::erase_if(held_, [&](const auto& entry) { return now >= entry.second.touched + patience; });
}

std::optional<Instant> HeldResults::next_deadline() const {
  const std::lock_guard lock{mutex_};
  std::optional<Instant> next;
  for (const auto& [name, held] : held_)
    if (!next || held.touched + patience < *next) next = held.touched + patience;
  return next;
}

}  // namespace px::engine
