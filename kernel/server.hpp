#pragma once

#include <memory>
#include <optional>

#include "jupyter/io_thread.hpp"
#include "jupyter/listening_channels.hpp"
#include "os/descriptor.hpp"

namespace px::kernel {

/// The I/O thread of a kernel: its channels listen.
class KernelServer final : public jupyter::IoThread {
 public:
  /// Listens.
  /// parent    readable when the kernel must end because the server that has started it has ended;
  ///           may be closed.
  /// captures  the output of child processes and C code, from here on.
  /// errors  bad_input: the connection is not usable; system: an address is in use, or too
  ///         few descriptors are left.
  static Result<std::unique_ptr<KernelServer>> start(const jupyter::KernelConnection& connection,
                                                     os::Descriptor parent, bool captures);
  ~KernelServer() override;

  /// Identifies this kernel in its messages.
  const SessionId& session() const { return session_id_; }

 private:
  KernelServer(const jupyter::KernelConnection& connection, Signer signer, os::Descriptor parent);
  Result<void> open(const jupyter::KernelConnection& connection, bool captures);

  void interrupt_main() override;
  void close_channels() override;

  const SessionId session_id_;
  os::Descriptor parent_;
  std::optional<net::Context> context_;
  std::optional<jupyter::ListeningChannels> channels_;
};

}  // namespace px::kernel
