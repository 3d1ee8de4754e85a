#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "wire/error.hpp"
#include "wire/signature.hpp"
#include "wire/time.hpp"

namespace px::net {

/// The limits of a StreamRelay.
struct StreamLimits {
  /// The most ends that wait for the other end of their stream. Beyond that the oldest one that has
  /// not named its stream is closed; if all have named it, the new one is closed.
  std::size_t most_single = 256;
  /// The most streams with both ends; connections beyond that are closed.
  std::size_t most_paired = 1024;
  Duration patience = std::chrono::seconds(10);  ///< For the other end to connect.
};

/// The controller's part in streams (see stream.hpp): joins the two ends that name the same stream,
/// and passes on the bytes of each without interpreting them. It stores at most 256 KiB for each
/// direction, and stops reading from an end while the other does not read, so that a slow receiver
/// slows down the sender and not the controller. When one end closes, the other is closed, too.
/// Never blocks; one thread owns it, the controller's.
class StreamRelay {
 public:
  /// Begins to listen.
  /// ip, port  in the form that LifelineServer::listen() takes.
  /// signer    with the key of the messages: only peers that have it may name a stream.
  ///           Precondition: it is enabled.
  /// errors    system: the port is in use, the address is not of this host, or too many files are
  ///           open.
  static Result<StreamRelay> listen(std::string_view ip, int port, Signer signer,
                                    const StreamLimits& limits = {});
  ~StreamRelay();
  StreamRelay(StreamRelay&&) noexcept;
  StreamRelay& operator=(StreamRelay&&) noexcept;

  /// Also listens at another address, or in a folder of Unix sockets ("ipc://..."), at the same
  /// port.
  Result<void> listen_also(std::string_view interface);

  /// The port at which it listens.
  int port() const;
  /// A descriptor to be watched with a Loop: readable when turn() has work.
  int descriptor() const;
  /// Accepts connections and passes on a bounded part of the received bytes; never blocks. Call it
  /// when descriptor() is readable and at next_deadline().
  void turn(Instant now);
  /// When turn() will close an end that waits for its other end; nothing if none waits.
  std::optional<Instant> next_deadline() const;

  /// The number of streams whose two ends are joined.
  std::size_t open_count() const;
  /// The number of ends that were closed because they sent nothing in time, sent something wrong,
  /// or were too many.
  std::uint64_t rejected() const;

 private:
  struct State;
  explicit StreamRelay(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace px::net
