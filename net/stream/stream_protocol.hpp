#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "wire/error.hpp"
#include "wire/signature.hpp"

namespace px::net {

// What is said at the beginning of a stream, apart from the sockets:
//   controller: <nonce, 64 hexadecimal digits>\n
//   other end:  <the stream's id, 64 hexadecimal digits> <HMAC of "stream", id, nonce>\n
//   controller: +     when the other end of the stream has come; records follow
// Who does not have the key of the messages gets no further. The nonce is new for each connection,
// so that a recorded answer is of no use to anybody. What is signed begins with no '{', so that no
// answer is ever the signature of a message.

inline constexpr std::size_t stream_greeting_bytes = 65;
inline constexpr char stream_is_paired = '+';

std::string write_stream_greeting(std::string_view nonce);
/// The nonce.  errors  bad_input: not a greeting.
Result<std::string> read_stream_greeting(std::string_view greeting);

/// The line by which an end says to which stream it belongs, newline included.
std::string write_stream_answer(std::string_view id, std::string_view nonce, const Signer& signer);
/// The stream's id.  line  without its newline.
/// errors  bad_input: not an answer to this nonce by somebody who has the key.
Result<std::string> read_stream_answer(std::string_view line, std::string_view nonce,
                                       const Signer& signer);

/// Whether it may be a stream's: 64 hexadecimal digits.
bool is_stream_id(std::string_view text);

}  // namespace px::net
