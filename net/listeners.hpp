#pragma once

#include <string_view>
#include <vector>

#include "os/descriptor.hpp"
#include "wire/error.hpp"

namespace px::net {

/// Plain TCP and Unix sockets that listen at one and the same port: the listening half of
/// LifelineServer and StreamRelay. The destructor closes them. One thread owns it.
class Listeners {
 public:
  /// Also listens at this interface, and turns AcceptGuard on.
  /// interface  in the form that listen_tcp() takes, or a folder of Unix sockets ("ipc://...").
  /// port       0: a free one; pass port() for further interfaces.
  /// result     the descriptor, to be watched: it is readable when a peer has connected.
  /// errors     system: the port is in use or the address is not of this host; the message names
  /// both.
  Result<int> listen(std::string_view interface, int port);
  /// The port of the first interface. Precondition: listen() has succeeded, the first time with
  /// TCP.
  int port() const;
  /// Whether this is the descriptor of one of the interfaces.
  bool has(int descriptor) const;

  /// Accepts waiting connections of this interface: at most 64, so that one turn of the loop stays
  /// short; the descriptor stays readable for the rest. Never blocks. See AcceptGuard for the case
  /// that no descriptor is left.
  std::vector<os::Descriptor> accept_some(int descriptor);

 private:
  std::vector<os::Descriptor> all_;
};

}  // namespace px::net
