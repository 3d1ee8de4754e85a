#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "os/descriptor.hpp"
#include "os/folders.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"

namespace px::net {

// Programs on the controller's host reach it through Unix sockets in a folder that only its user
// can enter. That is faster than TCP, and needs no encryption, because the bytes pass no network.
// An interface "ipc:///tmp/polyxeus-a1b2c3" means the folder, which contains one socket for each
// port, named by the port's number.

/// Identifies the running system and the network namespace of this process (containers may have
/// their own): processes with the same text can use each other's Unix sockets. Empty if the system
/// does not provide it.
std::string own_network();

/// The Unix sockets through which this process can reach the controller of a connection file.
/// Nothing if the controller runs elsewhere or has none, or if the folder is accessible to other
/// users, who could have put their own sockets there.
/// network  the result of own_network().
std::optional<std::string> local_interface(const ConnectionCommon& info, std::string_view network);

/// The folder for a controller's Unix sockets. The destructor removes the folder with its content.
/// Move-only; the controller's server owns one.
class SocketFolder {
 public:
  /// Makes a new folder below `parent`, accessible to the user only. Also removes the folders that
  /// killed controllers of this user left there.
  /// errors  system: it cannot be made; unsupported: the path is too long for Unix sockets.
  static Result<SocketFolder> create(
      const std::filesystem::path& parent = os::temporary_folder());
  /// Takes over the folder of a controller that is being restarted, or makes it again under the
  /// same name if it is gone: clients and engines retry that path.
  /// errors  system: it cannot be made, or belongs to another user or is accessible to others;
  ///         unsupported: the path is too long.
  static Result<SocketFolder> restore(std::string_view interface);
  ~SocketFolder();
  SocketFolder(SocketFolder&& other) noexcept;
  SocketFolder& operator=(SocketFolder&&) = delete;

  /// "ipc://" and its path, as in the connection file.
  std::string interface() const;

 private:
  SocketFolder(std::filesystem::path path, os::Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  static Result<SocketFolder> hold(const std::filesystem::path& path);
  std::filesystem::path path_;
  os::Descriptor lock_;  // shared, of the folder: prevents its removal as abandoned
};

/// Listens at the Unix socket of this port. A leftover socket file is replaced. The descriptor
/// never blocks.
/// errors  system: the message names the path.
Result<os::Descriptor> listen_unix(std::string_view interface, int port);

/// Connects to the Unix socket of this port; it succeeds or fails at once. The descriptor never
/// blocks.
/// errors   system: no process listens there, or its queue is full.
/// problem  where to put errno of a failure; may be null.
Result<os::Descriptor> connect_unix(std::string_view interface, int port, int* problem = nullptr);

}  // namespace px::net
