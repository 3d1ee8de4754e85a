#include "kernel/server.hpp"

#include <signal.h>
#include <unistd.h>

#include <utility>

namespace px::kernel {
namespace {

Json ports_of(const jupyter::KernelConnection& connection) {
  return {{"shell_port", connection.shell},
          {"control_port", connection.control},
          {"stdin_port", connection.input},
          {"iopub_port", connection.iopub},
          {"hb_port", connection.heartbeat}};
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const jupyter::KernelConnection& connection,
                                              os::Descriptor parent) {
  Result<Signer> signer = Signer::create(connection.signature_scheme, connection.key);
  if (!signer) return signer.error();
  std::unique_ptr<Server> server{new Server(connection, std::move(*signer), std::move(parent))};
  if (auto opened = server->open(connection); !opened) return opened.error();
  server->start_thread();
  return server;
}

Server::Server(const jupyter::KernelConnection& connection, Signer signer, os::Descriptor parent)
    : IoThread(std::make_shared<jupyter::ReplyFormat>(), 0),
      session_id_(new_session_id()),
      parent_(std::move(parent)) {
  queues().requests.set_connect_reply(ports_of(connection));
  context_.emplace();
  channels_.emplace(*context_, loop(), connection,
                    Session{session_id_, current_username(), Packer::json, std::move(signer)},
                    handlers());
}

Server::~Server() {
  finish();
}

Result<void> Server::open(const jupyter::KernelConnection& connection) {
  if (auto listening = channels_->listen(connection); !listening) return listening.error();
  jupyter::OutgoingQueue& outgoing = queues().outgoing;
  auto capture =
      DescriptorCapture::start([&outgoing](std::string_view stream, std::string_view text) {
        outgoing.add_captured(stream, text);
      });
  if (!capture) return capture.error();
  capture_ = std::move(*capture);
  outgoing.set_capture([this](bool is_last) { capture_->drain(is_last); });
  if (parent_.is_open())
    loop().watch(parent_.value(), [this] {
      loop().forget(parent_.value());
      end(0, "ending, as the server that has started this kernel did");
    });
  return {};
}

void Server::after_turn() {
  const bool is_wanted = !queues().outgoing.is_full();  // else the pipes fill and hold writers up
  if (is_wanted == is_watching_capture_) return;
  is_watching_capture_ = is_wanted;
  for (const int descriptor : capture_->descriptors())
    if (is_wanted)
      loop().watch(descriptor, [this] { capture_->drain(false); });
    else
      loop().forget(descriptor);
}

void Server::interrupt_main() {
  // As Jupyter's own signal does, it reaches the child processes too where the group is ours.
  if (::getpgrp() == ::getpid())
    ::kill(0, SIGINT);
  else
    ::pthread_kill(main_thread(), SIGINT);
}

void Server::close_channels() {
  channels_.reset();
  context_.reset();  // waits a second at most for what is not sent yet
  // Threads of the program may still print: what they use stays until the end.
  capture_->restore();
}

}  // namespace px::kernel
