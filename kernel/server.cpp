#include <px/kernel/server.hpp>

#include <px/kernel/io_thread.hpp>

namespace px::kernel {

Server::Server(std::unique_ptr<IoThread> thread) : thread_(std::move(thread)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(const KernelConnection& connection,
                                              Descriptor parent) {
  Result<Signer> signer = Signer::create(connection.signature_scheme, connection.key);
  if (!signer) return signer.error();
  auto thread = std::make_unique<IoThread>(connection, std::move(*signer), std::move(parent));
  if (auto started = thread->start(connection); !started) return started.error();
  return std::unique_ptr<Server>(new Server(std::move(thread)));
}

RequestDesk& Server::requests() {
  return thread_->requests();
}
Outbox& Server::outbox() {
  return thread_->outbox();
}
InputDesk& Server::inputs() {
  return thread_->inputs();
}
const SessionId& Server::session() const {
  return thread_->session();
}
int Server::original_stderr() const {
  return thread_->original_stderr();
}
void Server::finish() {
  thread_->finish();
}

}  // namespace px::kernel
