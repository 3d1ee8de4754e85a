#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "os/descriptor.hpp"
#include "os/temporary_folder.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"

namespace px::net {

// Those on the controller's own host reach it by Unix sockets in a folder that nobody but its user
// may enter: faster than TCP, and with nothing to encrypt, as nothing passes a network. An
// interface "ipc:///tmp/polyxeus-a1b2c3" has one socket for each port, named by its number.

/// Which running system, and which network of it (containers may have their own), this process
/// sees: the same text for those who may use each other's Unix sockets. Empty where the system
/// does not say.
std::string own_network();

/// The interface of a controller that runs here, by its connection file; nothing where it runs
/// elsewhere, has none, or the folder is not this user's alone.
/// network  as own_network() says.
std::optional<std::string> local_interface(const ConnectionCommon& info, std::string_view network);

/// A folder for Unix sockets; its end removes it with all that is in it.
class SocketFolder {
 public:
  /// A new folder below `parent`. Removes those that killed controllers of this user left there.
  /// errors  system: it cannot be made; unsupported: the path is too long for sockets.
  static Result<SocketFolder> create(
      const std::filesystem::path& parent = os::temporary_folder());
  /// The folder of a controller that has ended and comes back; made anew where it is gone.
  /// errors  system: it cannot be made, or somebody else owns it.
  static Result<SocketFolder> restore(std::string_view interface);
  ~SocketFolder();
  SocketFolder(SocketFolder&& other) noexcept;
  SocketFolder& operator=(SocketFolder&&) = delete;

  /// "ipc://" and its path.
  std::string interface() const;

 private:
  SocketFolder(std::filesystem::path path, os::Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  static Result<SocketFolder> hold(const std::filesystem::path& path);
  std::filesystem::path path_;
  os::Descriptor lock_;  // shared, of the folder: who removes abandoned ones leaves it alone
};

/// Listens at a Unix socket. errors  system: names the endpoint.
Result<os::Descriptor> listen_unix(std::string_view interface, int port);

/// Connects to one at once. errors  system: nobody listens there, or its queue is full.
/// problem  where to put the system's number of a failure.
Result<os::Descriptor> connect_unix(std::string_view interface, int port, int* problem = nullptr);

}  // namespace px::net
