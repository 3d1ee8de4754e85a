#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "os/descriptor.hpp"
#include "wire/error.hpp"

namespace px::net {

/// Plain TCP and Unix sockets that listen, all at one port. One thread owns it.
class Listeners {
 public:
  Listeners();

  /// interface  as listen_tcp() takes it, or a folder of Unix sockets ("ipc://...").
  /// port       0 = a free one, which further interfaces get, too.
  /// result     the descriptor that is readable when somebody connects.
  /// errors     system: the port is in use or the address is not of this host; names both.
  Result<int> listen(std::string_view interface, int port);
  /// Precondition: listen() has succeeded, at first with TCP.
  int port() const;
  bool has(int descriptor) const;

  /// Who waits at that one, 64 at most; for whom there is no descriptor left is turned away.
  std::vector<os::Descriptor> accept_some(int descriptor);
  std::uint64_t turned_away() const { return turned_away_; }

 private:
  bool turn_away(const os::Descriptor& listener);

  std::vector<os::Descriptor> all_;
  os::Descriptor spare_;  // to be given up when there are no more
  std::uint64_t turned_away_ = 0;
};

}  // namespace px::net
