// What a stranger says at the beginning of a stream, and records that nobody sealed.

#include "tests/fuzz/input.hpp"

#include <algorithm>
#include <array>

#include "net/stream/sealed_record.hpp"
#include "net/stream/stream_protocol.hpp"
#include "wire/error.hpp"

using namespace px;
using namespace px::net;

namespace {

const StreamKey& key() {
  static const StreamKey made = *read_stream_key(std::string(64, '1'));
  return made;
}

/// Records in a row: none opens, wherever they begin.
void open_all(std::string_view text, StreamCipher cipher) {
  RecordOpener opener{key(), cipher, StreamSide::client};
  while (text.size() >= record_length_bytes) {
    std::array<char, record_length_bytes> first{};
    std::copy_n(text.begin(), first.size(), first.begin());
    text.remove_prefix(first.size());
    const auto length = read_record_length(first);
    if (!length) return;
    check(*length <= 2 * longest_record_bytes);
    const std::size_t had = std::min(*length, text.size());
    char* const room = opener.room(*length);
    std::fill_n(std::copy_n(text.begin(), had, room), *length - had, '\0');
    check(!opener.open());
    text.remove_prefix(had);
  }
}

/// What was sealed opens as it was, and not with one byte changed.
void seal(std::string_view head, std::string_view bytes, std::uint8_t change) {
  RecordSealer sealer{key(), StreamCipher::aes_256_gcm, StreamSide::engine};
  RecordOpener opener{key(), StreamCipher::aes_256_gcm, StreamSide::engine};
  for (const bool is_changed : {false, true}) {
    std::string record(sealer.seal({head, bytes}));
    record.erase(0, record_length_bytes);
    if (is_changed) record[change % record.size()] ^= 1;
    std::copy(record.begin(), record.end(), opener.room(record.size()));
    const auto opened = opener.open();
    check(opened.has_value() != is_changed);
    if (opened) check(opened->head == head && opened->bytes == bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Signer signer = *Signer::create("hmac-sha256", "key");
  static const std::string nonce(64, 'a');
  FuzzInput input{data, size};
  const std::uint8_t change = input.byte();
  open_all(input.rest(), change % 2 == 0 ? StreamCipher::aes_256_gcm
                                         : StreamCipher::chacha20_poly1305);
  const std::string_view line = input.line();
  if (const auto greeting = read_stream_greeting(line)) check(is_stream_id(*greeting));
  if (const auto id = read_stream_answer(line, nonce, signer))
    check(write_stream_answer(*id, nonce, signer) == std::string(line) + "\n");
  seal(line.substr(0, longest_record_head), input.rest(), change);
  return 0;
}
