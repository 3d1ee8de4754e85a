#include "net/readiness.hpp"

#include <zmq.h>

#include <cstddef>

#include "os/retried.hpp"
#include "wire/error.hpp"

namespace px::net {
namespace {

int option(void* socket, int name) {
  int value = -1;
  std::size_t size = sizeof value;
  check(os::retried([&] { return zmq_getsockopt(socket, name, &value, &size); }) == 0);
  return value;
}

}  // namespace

Readiness::Readiness(void* socket) : socket_(socket), descriptor_(option(socket, ZMQ_FD)) {}

bool Readiness::is_readable() {
  may_be_readable_ = (option(socket_, ZMQ_EVENTS) & ZMQ_POLLIN) != 0;
  return may_be_readable_;
}

}  // namespace px::net
