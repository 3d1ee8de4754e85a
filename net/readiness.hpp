#pragma once

namespace px::net {

/// Whether a zmq socket has messages, found without asking it more often than needed; what a Loop
/// looks at. Used on the thread of the socket.
///
/// A zmq socket's descriptor tells that something changed, once: it falls silent as soon as the
/// socket has looked at its commands, which it does in every call. So a socket may be readable
/// after any call on it; after that it can only become so when its descriptor is readable.
class Readiness {
 public:
  /// `socket`: a zmq socket that outlives this.
  explicit Readiness(void* socket);

  /// Readable when the socket may have become so.
  int descriptor() const { return descriptor_; }
  /// After a call on the socket: it may be readable, whatever its descriptor says.
  void touched() { may_be_readable_ = true; }
  /// After a receive that found nothing.
  void emptied() { may_be_readable_ = false; }
  /// False: it is certainly not readable while its descriptor is not.
  bool may_be_readable() const { return may_be_readable_; }
  /// Asks the socket. Stays true until a receive finds nothing.
  bool is_readable();

 private:
  void* socket_;
  int descriptor_;
  bool may_be_readable_ = true;
};

}  // namespace px::net
