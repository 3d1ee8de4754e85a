#pragma once

#include <memory>

#include <px/kernel/connection.hpp>
#include <px/kernel/descriptor_capture.hpp>
#include <px/kernel/input_desk.hpp>
#include <px/kernel/outbox.hpp>
#include <px/kernel/request_desk.hpp>
#include <px/net/descriptor.hpp>

namespace px::kernel {

/// The sockets of a kernel and the thread that owns them: answers hearts and orders while user code
/// runs, passes requests to the main thread and its messages on. The thread runs no user code and
/// never takes an interpreter's lock. Create and destroy it on the main thread.
class Server {
 public:
  /// Listens. The output of child processes and C code is captured from here on.
  /// parent  readable when the kernel is to end, as the server that has started it did; may be
  ///         closed.
  /// errors  bad_input: the connection is not usable; system: an address is in use.
  static Result<std::unique_ptr<Server>> start(const KernelConnection& connection,
                                               Descriptor parent);
  ~Server();

  RequestDesk& requests();
  Outbox& outbox();
  InputDesk& inputs();
  /// What identifies this kernel in its messages.
  const SessionId& session() const;
  /// The standard error that the process was started with.
  int original_stderr() const;

  /// For the main thread, when RequestDesk::wait() has returned nothing: sends what is left and
  /// joins the thread.
  void finish();

 private:
  class IoThread;
  explicit Server(std::unique_ptr<IoThread> thread);
  std::unique_ptr<IoThread> thread_;
};

}  // namespace px::kernel
