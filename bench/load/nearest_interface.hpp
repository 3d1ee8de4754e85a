#pragma once

#include "net/local_interface.hpp"
#include "wire/connection_info.hpp"

namespace px::bench {

/// Makes `info` name the interface that polyxeus's own programs take: the Unix sockets of a
/// controller of this host, where it has some (`--no-ipc`: it has none); else TCP.
inline void take_nearest_interface(ConnectionCommon& info) {
  if (const auto local = net::local_interface(info, net::own_network())) info.interface = *local;
}

}  // namespace px::bench
