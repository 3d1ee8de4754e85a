#pragma once

#include <memory>
#include <optional>

#include "jupyter/io_thread.hpp"
#include "jupyter/listening_channels.hpp"
#include "kernel/descriptor_capture.hpp"
#include "os/descriptor.hpp"

namespace px::kernel {

/// The I/O thread of a kernel: its channels listen, and what child processes and C code print is
/// captured.
class Server final : public jupyter::IoThread {
 public:
  /// Listens. The output of child processes and C code is captured from here on.
  /// parent  readable when the kernel is to end, as the server that has started it did; may be
  ///         closed.
  /// errors  bad_input: the connection is not usable; system: an address is in use.
  static Result<std::unique_ptr<Server>> start(const jupyter::KernelConnection& connection,
                                               os::Descriptor parent);
  ~Server() override;

  /// What identifies this kernel in its messages.
  const SessionId& session() const { return session_id_; }
  /// The standard error that the process was started with.
  int original_stderr() const { return capture_->original_stderr(); }

 private:
  Server(const jupyter::KernelConnection& connection, Signer signer, os::Descriptor parent);
  Result<void> open(const jupyter::KernelConnection& connection);

  void after_turn() override;
  void interrupt_main() override;
  void before_last_messages() override { capture_->drain(false); }
  void close_channels() override;

  const SessionId session_id_;
  os::Descriptor parent_;
  std::unique_ptr<DescriptorCapture> capture_;  // used by other threads too
  std::optional<net::Context> context_;
  std::optional<jupyter::ListeningChannels> channels_;
  bool is_watching_capture_ = false;
};

}  // namespace px::kernel
