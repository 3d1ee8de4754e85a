#include <px/net/context.hpp>

#include <zmq.hpp>

namespace px {

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

}  // namespace px
