#include "net/connection_monitor.hpp"

#include <zmq.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

namespace px::net {
namespace {

std::string next_endpoint() {
  static std::atomic<std::uint64_t> number = 0;  // endpoints are known in the whole context
  return "inproc://px-connection-monitor-" + std::to_string(number++);
}

}  // namespace

struct ConnectionMonitor::State {
  Socket& watched;
  Socket reports;
  std::function<void(int)> on_accepted = {};
};

ConnectionMonitor::ConnectionMonitor(Context& context, Socket& socket)
    : state_(new State{socket, Socket{context, SocketKind::pair}}) {
  const std::string endpoint = next_endpoint();
  socket.report_connections(endpoint);
  check(state_->reports.connect(endpoint).has_value());
}

ConnectionMonitor::~ConnectionMonitor() {
  if (state_) state_->watched.report_connections("");
}

ConnectionMonitor::ConnectionMonitor(ConnectionMonitor&&) noexcept = default;
ConnectionMonitor& ConnectionMonitor::operator=(ConnectionMonitor&&) noexcept = default;

Socket& ConnectionMonitor::socket() {
  return state_->reports;
}

void ConnectionMonitor::on_accepted(std::function<void(int)> handler) {
  state_->on_accepted = std::move(handler);
}

std::optional<ConnectionEvent> ConnectionMonitor::receive() {
  for (;;) {
    const SharedFrames frames = state_->reports.receive();
    if (!frames) return std::nullopt;
    // The first frame holds the event and a value, the second one the address.
    std::uint16_t event = 0;
    if (frames->at(0).size() < sizeof event + sizeof(std::int32_t)) continue;
    std::memcpy(&event, frames->at(0).data(), sizeof event);
    if (event == ZMQ_EVENT_MONITOR_STOPPED) continue;
    if (event == ZMQ_EVENT_ACCEPTED) {
      std::int32_t descriptor = -1;
      std::memcpy(&descriptor, frames->at(0).data() + sizeof event, sizeof descriptor);
      if (state_->on_accepted) state_->on_accepted(descriptor);
      continue;
    }
    if (event == ZMQ_EVENT_DISCONNECTED) return ConnectionEvent::disconnected;
    if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) return ConnectionEvent::connected;
    return event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL ? ConnectionEvent::cut_off
                                                         : ConnectionEvent::refused;
  }
}

}  // namespace px::net
