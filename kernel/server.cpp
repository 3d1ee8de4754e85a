#include "kernel/server.hpp"

#include <signal.h>
#include <unistd.h>

#include <utility>

#include "os/descriptor_limit.hpp"

namespace px::kernel {
namespace {

/// What a kernel takes: its 5 sockets, where they listen, one client, libzmq's threads, what
/// captures output, and what it waits at.
constexpr std::size_t descriptors_of_kernel = 48;

Json ports_of(const jupyter::KernelConnection& connection) {
  return {{"shell_port", connection.shell},
          {"control_port", connection.control},
          {"stdin_port", connection.input},
          {"iopub_port", connection.iopub},
          {"hb_port", connection.heartbeat}};
}

}  // namespace

Result<std::unique_ptr<KernelServer>> KernelServer::start(
    const jupyter::KernelConnection& connection, os::Descriptor parent, bool captures) {
  if (auto enough = os::require_descriptors(descriptors_of_kernel, "a kernel"); !enough)
    return enough.error();
  Result<Signer> signer = Signer::create(connection.signature_scheme, connection.key);
  if (!signer) return signer.error();
  std::unique_ptr<KernelServer> server{
      new KernelServer(connection, std::move(*signer), std::move(parent))};
  if (auto opened = server->open(connection, captures); !opened) return opened.error();
  server->start_thread();
  return server;
}

KernelServer::KernelServer(const jupyter::KernelConnection& connection, Signer signer,
                           os::Descriptor parent)
    : IoThread(jupyter::ReplyFormats{{std::make_shared<jupyter::ReplyFormat>()}}, 0),
      session_id_(new_session_id()),
      parent_(std::move(parent)) {
  queues().requests.set_connect_reply(ports_of(connection));
  context_.emplace();
  channels_.emplace(*context_, loop(), connection,
                    Session{session_id_, current_username(), Packer::json, std::move(signer)},
                    handlers());
  set_channels(0, &*channels_);
}

KernelServer::~KernelServer() {
  finish();
}

Result<void> KernelServer::open(const jupyter::KernelConnection& connection, bool captures) {
  if (auto listening = channels_->listen(connection); !listening) return listening.error();
  if (captures)
    if (auto captured = capture_descriptors(false); !captured) return captured.error();
  if (parent_.is_open())
    loop().watch(parent_.value(), [this] {
      loop().forget(parent_.value());
      end(0, "exiting: the server that started this kernel has ended");
    });
  return {};
}

void KernelServer::interrupt_main() {
  // As Jupyter's own signal does, it reaches the child processes too where the group is ours.
  if (::getpgrp() == ::getpid())
    ::kill(0, SIGINT);
  else
    ::pthread_kill(main_thread(), SIGINT);
}

void KernelServer::close_channels() {
  channels_.reset();
  context_.reset();  // waits a second at most for what is not sent yet
}

}  // namespace px::kernel
