#include "net/context.hpp"

#include <string>
#include <zmq.hpp>

namespace px::net {

struct Context::State {
  explicit State(int io_threads) : context(io_threads) {}
  zmq::context_t context;
};

Context::Context(int io_threads) : state_(std::make_unique<State>(io_threads)) {
  // A process that ends must not wait for peers that are gone; what must arrive is lingered for
  // by its socket.
  state_->context.set(zmq::ctxopt::blocky, 0);
}

Context::~Context() = default;

void* Context::handle() const {
  return &state_->context;
}

Result<void> allow_sockets(Context& context, std::size_t count) {
  auto& zmq_context = *static_cast<zmq::context_t*>(context.handle());
  const auto most = static_cast<std::size_t>(zmq_context.get(zmq::ctxopt::socket_limit));
  if (count > most)
    return Error{ErrorKind::system, "libzmq allows " + std::to_string(most) +
                                        " sockets per context, but " + std::to_string(count) +
                                        " are needed: run fewer engines in one process"};
  zmq_context.set(zmq::ctxopt::max_sockets, static_cast<int>(count));
  return {};
}

}  // namespace px::net
