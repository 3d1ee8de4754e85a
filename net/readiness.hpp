#pragma once

#include <memory>

namespace px::net {

class LocalChannel;

/// Whether a Socket has messages, found without asking it more often than needed; what a Loop
/// looks at. Used on the thread of the socket.
///
/// A zmq socket's descriptor tells that something changed, once: it falls silent as soon as the
/// socket has looked at its commands, which it does in every call. So a socket may be readable
/// after any call on it; after that it can only become so when its descriptor is readable.
class Readiness {
 public:
  /// Both outlive this.
  /// socket   a zmq socket; null: none.
  /// channel  where else messages come from; null: none.
  Readiness(void* socket, LocalChannel* channel);

  /// Readable when the socket may have become so.
  int descriptor() const { return descriptor_; }
  /// Whether a Loop calls flush() in each of its turns. Outlives the socket: a Loop says there that
  /// it ends.
  const std::shared_ptr<bool>& watched() const { return watched_; }
  bool is_watched() const { return *watched_; }
  /// Before the thread sleeps: sends what is still to be sent.
  void flush();
  /// After a call on the socket: it may be readable, whatever its descriptor says.
  void touched() { may_be_readable_ = true; }
  /// After a receive that found nothing.
  void emptied() { may_be_readable_ = false; }
  /// False: it is certainly not readable while its descriptor is not.
  bool may_be_readable() const;
  /// Asks the socket. Stays true until a receive finds nothing.
  bool is_readable();

 private:
  void* socket_;
  LocalChannel* channel_;
  int descriptor_;
  std::shared_ptr<bool> watched_ = std::make_shared<bool>(false);
  bool may_be_readable_ = true;
};

}  // namespace px::net
