#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "wire/error.hpp"
#include "wire/signature.hpp"

namespace px::net {

// The greeting at the beginning of a stream, without the sockets:
//   controller: <nonce, 64 hexadecimal digits>\n
//   other end:  <the stream's id, 64 hexadecimal digits> <HMAC of "stream", id, nonce>\n
//   controller: +     when the other end of the stream has connected; records follow
// A peer without the key of the messages gets no further than the greeting. The nonce is new for
// each connection, so that a recorded answer cannot be used again. The signed text does not begin
// with '{', unlike the header of every message, so that no answer can serve as the signature of a
// message.

/// The length of the controller's greeting, and the byte with which it reports that both ends are
/// connected.
inline constexpr std::size_t stream_greeting_bytes = 65;
inline constexpr char stream_is_paired = '+';

/// The controller's greeting, newline included.
std::string write_stream_greeting(std::string_view nonce);
/// The nonce in a greeting.
/// errors  bad_input: it is not a greeting.
Result<std::string> read_stream_greeting(std::string_view greeting);

/// An end's answer, which names its stream; newline included.
std::string write_stream_answer(std::string_view id, std::string_view nonce, const Signer& signer);
/// The id of the stream that an end names.
/// line    its answer, without the newline.
/// errors  bad_input: not an answer to this nonce that is signed with our key.
Result<std::string> read_stream_answer(std::string_view line, std::string_view nonce,
                                       const Signer& signer);

/// Whether the text has the form of a stream's id: 64 hexadecimal digits.
bool is_stream_id(std::string_view text);

}  // namespace px::net
