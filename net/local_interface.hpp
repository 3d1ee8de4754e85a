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

// Programs on the controller's own host reach it by Unix sockets in a folder that only its user can
// enter. That is faster than TCP, and there is nothing to encrypt, as the bytes pass no network. An
// interface "ipc:///tmp/polyxeus-a1b2c3" stands for the folder, which has one socket for each port,
// named by the port's number.

/// Identifies the running system and the network namespace of this process (containers may have
/// their own): processes with the same text can use each other's Unix sockets. Empty if the system
/// does not provide it.
std::string own_network();

/// The Unix sockets by which this process can reach the controller of a connection file. Nothing if
/// the controller runs elsewhere or has none, or if the folder is accessible to other users, who
/// could have put sockets of their own there.
/// network  as own_network() says.
std::optional<std::string> local_interface(const ConnectionCommon& info, std::string_view network);

/// The folder for a controller's Unix sockets. The destructor removes the folder with all that is
/// in it. Move-only; the controller's server owns one.
class SocketFolder {
 public:
  /// Makes a new folder below `parent`, for the user alone. Also removes the folders that
  /// controllers of this user left there when they were killed.
  /// errors  system: it cannot be made; unsupported: the path is too long for Unix sockets.
  static Result<SocketFolder> create(
      const std::filesystem::path& parent = os::temporary_folder());
  /// Takes over the folder of a controller that has ended and is started again, or makes it anew
  /// under the same name if it is gone: clients and engines try that path again.
  /// errors  system: it cannot be made, or belongs to another user or is accessible to others;
  ///         unsupported: the path is too long.
  static Result<SocketFolder> restore(std::string_view interface);
  ~SocketFolder();
  SocketFolder(SocketFolder&& other) noexcept;
  SocketFolder& operator=(SocketFolder&&) = delete;

  /// "ipc://" and its path, as it stands in the connection file.
  std::string interface() const;

 private:
  SocketFolder(std::filesystem::path path, os::Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  static Result<SocketFolder> hold(const std::filesystem::path& path);
  std::filesystem::path path_;
  os::Descriptor lock_;  // shared, of the folder: who removes abandoned ones leaves it alone
};

/// Listens at the Unix socket of this port. A socket file that is left there is replaced. The
/// descriptor never blocks.
/// errors  system: names the path.
Result<os::Descriptor> listen_unix(std::string_view interface, int port);

/// Connects to the Unix socket of this port; it succeeds or fails at once. The descriptor never
/// blocks.
/// errors   system: no process listens there, or its queue is full.
/// problem  where to put errno of a failure; may be null.
Result<os::Descriptor> connect_unix(std::string_view interface, int port, int* problem = nullptr);

}  // namespace px::net
