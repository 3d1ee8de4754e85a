#pragma once

#include <cstdint>

namespace px::net {

/// Turns connections away where this process has no descriptor left for them. libzmq ends the
/// process then, as it takes it for a bug that accept() at a Unix socket says so; and at TCP it
/// asks again and again without a pause.
///
/// For programs: accept4() of the C library is replaced by one that keeps a descriptor in reserve,
/// takes the connection with that, and closes it. In an extension module of Python libzmq keeps the
/// one of the C library; nothing listens there at a Unix socket but a kernel that is told to.
class AcceptGuard {
 public:
  /// From now on, in the whole process: before anything listens. Any thread; more than once does no
  /// harm.
  static void start();
  /// How many connections were turned away.
  static std::uint64_t turned_away();
};

}  // namespace px::net
