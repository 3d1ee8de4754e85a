#include "net/ssh/tunnel_watch.hpp"

#include <algorithm>

#include "net/ssh/ssh_complaint.hpp"

namespace px::net {

void TunnelWatch::is_up(Instant now) {
  was_up_ = true;
  up_since_ = now;
}

TunnelWatch::Next TunnelWatch::ended(std::string_view complaint, Instant now) {
  if (!was_up_) {
    if (++failures_ >= max_first_starts) return Next::give_up;
    if (says_local_port_is_taken(complaint)) return Next::take_other_ports;
    if (!says_server_is_crowded(complaint)) return Next::give_up;
  }
  if (up_since_ && now >= *up_since_ + steady) pause_ = first_pause;
  up_since_.reset();
  next_start_ = now + pause_;
  pause_ = std::min(2 * pause_, longest_pause);
  return Next::start_later;
}

}  // namespace px::net
