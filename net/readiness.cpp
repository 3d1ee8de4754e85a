#include "net/readiness.hpp"

#include <zmq.h>

#include <cstddef>

#include "net/zmtp/local_channel.hpp"
#include "wire/error.hpp"

namespace px::net {
namespace {

int option(void* socket, int name) {
  int value = -1;
  std::size_t size = sizeof value;
  check(zmq_getsockopt(socket, name, &value, &size) == 0);
  return value;
}

}  // namespace

Readiness::Readiness(void* socket, LocalChannel* channel) : socket_(socket), channel_(channel) {
  descriptor_ = socket_ ? option(socket_, ZMQ_FD) : -1;
  if (!channel_) return;
  if (socket_) channel_->watch_also(descriptor_);
  descriptor_ = channel_->descriptor();
}

void Readiness::flush() {
  if (channel_) channel_->flush();
}

bool Readiness::may_be_readable() const {
  return may_be_readable_ || (channel_ && channel_->has_message());
}

bool Readiness::is_readable() {
  if (channel_ && !channel_->has_message()) channel_->turn();
  may_be_readable_ = socket_ && (option(socket_, ZMQ_EVENTS) & ZMQ_POLLIN) != 0;
  return may_be_readable();
}

}  // namespace px::net
