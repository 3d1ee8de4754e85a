#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "wire/error.hpp"
#include "wire/ids.hpp"
#include "wire/signature.hpp"

namespace px::net {

// What is said on a lifeline, apart from the sockets. Two lines of JSON, then silence until the
// end of the connection, which is the message:
//   controller: {"nonce": "<64 hexadecimal digits>"}
//   engine:     {"uuid": "...", "signature": "<HMAC of "lifeline", uuid, nonce>"}, and "tunnel":
//   true
//               where it comes through one
// The nonce is new for each connection, so that a recorded answer is of no use to anybody. What is
// signed begins with no '{', so that no answer is ever the signature of a message.

/// A line that is longer than this is refused.
inline constexpr std::size_t max_lifeline_line = 1024;

/// The line by which the controller greets, newline included.
std::string write_lifeline_greeting(std::string_view nonce);

/// The nonce of a greeting.  errors  bad_input: not a greeting of 64 hexadecimal digits.
Result<std::string> read_lifeline_greeting(std::string_view line);

/// Who holds a lifeline.
struct LifelineHolder {
  EngineUuid uuid;
  bool is_tunnelled = false;
  bool operator==(const LifelineHolder&) const = default;
};

/// The engine's answer, newline included.
std::string write_lifeline_answer(const LifelineHolder& holder, std::string_view nonce,
                                  const Signer& signer);

/// Who answered.  errors  bad_input: not an answer, a uuid of 0 or more than 255 bytes, or a
/// signature that is not the one for this nonce.
Result<LifelineHolder> read_lifeline_answer(std::string_view line, std::string_view nonce,
                                            const Signer& signer);

/// Gathers the first line of a connection from the pieces in which it comes.
class FirstLine {
 public:
  /// The line without its newline once it is complete; what comes behind it is dropped.
  std::optional<std::string> add(std::string_view bytes);
  /// More than max_lifeline_line bytes came without a newline.
  bool is_too_long() const { return text_.size() > max_lifeline_line; }

 private:
  std::string text_;
};

}  // namespace px::net
