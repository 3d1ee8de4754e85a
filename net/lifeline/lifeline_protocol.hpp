#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "wire/error.hpp"
#include "wire/ids.hpp"
#include "wire/signature.hpp"

namespace px::net {

// The messages on a lifeline, without the sockets. They are two lines of JSON; nothing is sent
// after that until the connection ends, and that end is the message:
//   controller: {"nonce": "<64 hexadecimal digits>"}
//   engine:     {"uuid": "...", "signature": "<HMAC of "lifeline", uuid, nonce>"},
//               with the member "tunnel": true if it goes through a tunnel
// The nonce is new for each connection, so that a recorded answer cannot be used again. The signed
// text does not begin with '{', unlike the header of every message, so that no answer can serve as
// the signature of a message.

/// A longer line, in bytes, is refused.
inline constexpr std::size_t max_lifeline_line = 1024;

/// The line with which the controller greets a connection, newline included.
std::string write_lifeline_greeting(std::string_view nonce);

/// The nonce in a greeting.
/// errors  bad_input: it is not a greeting with 64 hexadecimal digits.
Result<std::string> read_lifeline_greeting(std::string_view line);

/// The engine to which a lifeline belongs.
struct LifelineHolder {
  EngineUuid uuid;
  bool is_tunnelled = false;  ///< It goes through an ssh tunnel.
  bool operator==(const LifelineHolder&) const = default;
};

/// The engine's answer to a greeting, newline included.
std::string write_lifeline_answer(const LifelineHolder& holder, std::string_view nonce,
                                  const Signer& signer);

/// The engine that answered.
/// errors  bad_input: not an answer, a uuid of 0 or more than 255 bytes, or a signature that is not
///         the right one for this nonce.
Result<LifelineHolder> read_lifeline_answer(std::string_view line, std::string_view nonce,
                                            const Signer& signer);

/// Collects the first line of a connection from the pieces in which it arrives. Stores at most
/// max_lifeline_line + 1 bytes, whatever is sent. Streams use it, too.
class FirstLine {
 public:
  /// Adds received bytes. Returns the line without its newline once it is complete, otherwise
  /// nothing. Bytes after the newline are dropped.
  std::optional<std::string> add(std::string_view bytes);
  /// Whether more than max_lifeline_line bytes arrived without a newline: the connection must be
  /// closed.
  bool is_too_long() const { return text_.size() > max_lifeline_line; }

 private:
  std::string text_;
};

}  // namespace px::net
