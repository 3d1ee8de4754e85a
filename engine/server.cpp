#include <px/engine/server.hpp>

#include <px/engine/io_thread.hpp>

namespace px {

Server::Server(std::unique_ptr<IoThread> thread) : thread_(std::move(thread)) {}

Server::~Server() {
  thread_->finish();
}

Result<std::unique_ptr<Server>> Server::start(ServerConfig config) {
  Result<Signer> signer = Signer::create(config.info.signature_scheme, config.info.key);
  if (!signer) return signer.error();
  const Result<Packer> packer = packer_by_name(config.info.pack);
  if (!packer) return packer.error();
  auto thread = std::make_unique<IoThread>(std::move(config), std::move(*signer), *packer);
  thread->start();
  return std::unique_ptr<Server>(new Server(std::move(thread)));
}

Result<EngineIdentity> Server::wait_registered() {
  return thread_->wait_registered();
}
void Server::announce_ready(const std::string& mpi) {
  thread_->announce_ready(mpi);
}
Inbox& Server::inbox() {
  return thread_->inbox();
}
Outbox& Server::outbox() {
  return thread_->outbox();
}
int Server::finish() {
  return thread_->finish();
}

}  // namespace px
