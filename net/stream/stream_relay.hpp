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

/// Bounds of a StreamRelay.
struct StreamLimits {
  /// Ends that wait for another one. Of more the oldest that has not said its stream's name yet is
  /// closed; the new one where all have said it.
  std::size_t most_single = 256;
  std::size_t most_paired = 1024;
  Duration patience = std::chrono::seconds(10);  ///< For the other end to come.
};

/// The controller's part in streams (see stream.hpp): joins the two ends that name the same stream
/// and passes on what each sends, without reading it. Of each direction it holds 256 KiB at most,
/// and does not read where the other end does not. One thread owns it.
class StreamRelay {
 public:
  /// signer  enabled: only who has the key may name a stream.
  /// errors  system: the port is in use or the address is not of this host; names both.
  static Result<StreamRelay> listen(std::string_view ip, int port, Signer signer,
                                    const StreamLimits& limits = {});
  ~StreamRelay();
  StreamRelay(StreamRelay&&) noexcept;
  StreamRelay& operator=(StreamRelay&&) noexcept;

  /// Listens at one more address, or a folder of Unix sockets ("ipc://..."), at the same port.
  Result<void> listen_also(std::string_view interface);

  int port() const;
  /// Watch it with a Loop: readable when turn() has work.
  int descriptor() const;
  /// Passes on a bounded part of what has come; never blocks. Call it when descriptor() is readable
  /// and at next_deadline().
  void turn(Instant now);
  /// When turn() will close an end that nobody joins; nothing while there is none.
  std::optional<Instant> next_deadline() const;

  /// Streams whose two ends are joined.
  std::size_t open_count() const;
  /// Ends that were closed: they said nothing in time, something wrong, or were too many.
  std::uint64_t rejected() const;

 private:
  struct State;
  explicit StreamRelay(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace px::net
