#pragma once

namespace px::net {

/// Knows whether a ZeroMQ socket has messages, and asks libzmq no more often than needed. Each
/// Socket has one; a Loop reads it. Used only on the thread of the socket.
///
/// A ZeroMQ socket's descriptor signals changes, not a state: it becomes readable once when
/// something has changed, and is silent again as soon as the socket has processed its commands,
/// which it does in every call. So a socket may have messages after any call on it, whatever its
/// descriptor says; but once a receive found nothing, it can only get some after its descriptor was
/// readable.
class Readiness {
 public:
  /// socket  the handle of a ZeroMQ socket, which outlives this.
  explicit Readiness(void* socket);

  /// The socket's descriptor: readable when the socket may have become readable.
  int descriptor() const { return descriptor_; }
  /// Call it after every call on the socket: it may be readable now.
  void touched() { may_be_readable_ = true; }
  /// Call it after a receive that found no message.
  void emptied() { may_be_readable_ = false; }
  /// False: the socket certainly has no messages as long as its descriptor is not readable.
  bool may_be_readable() const { return may_be_readable_; }
  /// Asks the socket whether a receive would find a message.
  bool is_readable();

 private:
  void* socket_;
  int descriptor_;
  bool may_be_readable_ = true;
};

}  // namespace px::net
