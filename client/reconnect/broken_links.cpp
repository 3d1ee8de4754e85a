#include "client/reconnect/broken_links.hpp"

#include <utility>

namespace px::client {

/// Who misses news misses that the connection of an engine stands again, with which went what
/// direct calls and broadcasts had sent it. Balanced tasks are the controller's concern.
std::set<RequestChannel> Breaks::to_repeat() const {
  std::set<RequestChannel> all = channels;
  if (of_news) all.insert({RequestChannel::direct, RequestChannel::broadcast});
  return all;
}

void BrokenLinks::disconnected(LinkKind link) {
  at(link).is_broken |= at(link).was_up;
}

bool BrokenLinks::connected(LinkKind link) {
  at(link).was_up = true;
  if (!std::exchange(at(link).is_broken, false)) return false;
  switch (link) {
    case LinkKind::direct:
      breaks_.channels.insert(RequestChannel::direct);
      break;
    case LinkKind::balanced:
      breaks_.channels.insert(RequestChannel::balanced);
      break;
    case LinkKind::broadcast:
      breaks_.channels.insert(RequestChannel::broadcast);
      break;
    case LinkKind::control:
      breaks_.channels.insert(RequestChannel::control);
      break;
    case LinkKind::news:
      breaks_.of_news = true;
      break;
    case LinkKind::output:
      breaks_.of_output = true;
      break;
  }
  return true;
}

void BrokenLinks::controller_changed() {
  breaks_ = {};
  const bool misses_news = at(LinkKind::news).is_broken;
  for (LinkState& link : links_) link.is_broken = false;
  at(LinkKind::news).is_broken = misses_news;
}

Breaks BrokenLinks::take() {
  return std::exchange(breaks_, {});
}

}  // namespace px::client
