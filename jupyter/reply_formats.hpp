#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "jupyter/reply_format.hpp"

namespace px::jupyter {

/// The number of the peer from which the request came; null stands for the first peer.
inline std::size_t peer_of(const RequestPtr& request) {
  return request ? request->peer : 0;
}

/// The formats of all peers of this process, by their numbers. A peer is whoever reaches this
/// process by one set of channels. A kernel has one, the clients of its five sockets. An engine has
/// two: its controller (number 0), and Jupyter's clients that connect to the engine itself once it
/// is bound as a kernel (1). Each request carries the number of its peer, so that its reply and
/// output go back there in that peer's format. Immutable: any thread may call it.
class ReplyFormats {
 public:
  /// formats[i] is that of peer i.  Precondition: there is one, and as many as there are peers.
  explicit ReplyFormats(std::vector<std::shared_ptr<const ReplyFormat>> formats)
      : formats_(std::move(formats)) {}

  std::size_t count() const { return formats_.size(); }
  const ReplyFormat& of(const Request& request) const { return *formats_.at(request.peer); }
  const ReplyFormat& of(const RequestPtr& request) const { return *formats_.at(peer_of(request)); }

 private:
  std::vector<std::shared_ptr<const ReplyFormat>> formats_;
};

}  // namespace px::jupyter
