#pragma once

#include <string_view>
#include <vector>

#include "os/descriptor.hpp"
#include "wire/error.hpp"

namespace px::net {

/// Plain TCP and Unix sockets that listen, all at one port. One thread owns it.
class Listeners {
 public:
  /// interface  as listen_tcp() takes it, or a folder of Unix sockets ("ipc://...").
  /// port       0 = a free one, which further interfaces get, too.
  /// result     the descriptor that is readable when somebody connects.
  /// errors     system: the port is in use or the address is not of this host; names both.
  Result<int> listen(std::string_view interface, int port);
  /// Precondition: listen() has succeeded, at first with TCP.
  int port() const;
  bool has(int descriptor) const;

  /// Who waits at that one, 64 at most; see AcceptGuard for those for whom there is no descriptor.
  std::vector<os::Descriptor> accept_some(int descriptor);

 private:
  std::vector<os::Descriptor> all_;
};

}  // namespace px::net
