#include "net/stream/stream_protocol.hpp"

#include "wire/envelope.hpp"

namespace px::net {
namespace {

constexpr std::string_view stream_purpose = "stream";
constexpr std::size_t id_length = 64;

Envelope signed_answer(std::string_view id, std::string_view nonce, std::string_view signature) {
  return {.signature = signature,
          .header = stream_purpose,
          .parent_header = id,
          .metadata = nonce,
          .content = ""};
}

}  // namespace

bool is_stream_id(std::string_view text) {
  return text.size() == id_length && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string write_stream_greeting(std::string_view nonce) {
  return std::string(nonce) + "\n";
}

Result<std::string> read_stream_greeting(std::string_view greeting) {
  const std::string_view nonce = greeting.substr(0, id_length);
  if (greeting.size() != stream_greeting_bytes || greeting.back() != '\n' || !is_stream_id(nonce))
    return Error{ErrorKind::bad_input,
                 "the program at the port for streams is not a polyxeus controller"};
  return std::string(nonce);
}

std::string write_stream_answer(std::string_view id, std::string_view nonce,
                                const Signer& signer) {
  return std::string(id) + " " + signer.sign(stream_purpose, id, nonce, "") + "\n";
}

Result<std::string> read_stream_answer(std::string_view line, std::string_view nonce,
                                       const Signer& signer) {
  const std::string_view id = line.substr(0, id_length);
  const bool is_answer = is_stream_id(id) && line.size() > id_length && line[id_length] == ' ';
  if (!signer.is_enabled() || !is_answer ||
      !signer.verify(signed_answer(id, nonce, line.substr(id_length + 1))))
    return Error{ErrorKind::bad_input,
                 "the first line of a stream has a bad signature: it comes from another cluster"};
  return std::string(id);
}

}  // namespace px::net
