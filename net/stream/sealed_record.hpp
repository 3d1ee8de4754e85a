#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px::net {

// What passes a stream (see stream.hpp), apart from the sockets: records, each sealed by an AEAD.
//   length  4 bytes, little-endian: of what follows; authenticated
//   sealed  length of the head (4 bytes, little-endian), head, zeros up to a multiple of 16, bytes
//   tag     16 bytes
// The nonce of a record is not sent. It is the sender's side and the number of records that this
// side sealed before: a record that was changed, left out, sent twice or by the other side, or that
// comes in another order or by another stream, does not open.

/// How records are sealed. Both sides name it when they agree on the key.
enum class StreamCipher { aes_256_gcm, chacha20_poly1305 };
std::string_view name_of(StreamCipher cipher);  ///< "aes-256-gcm"
/// Nothing where no cipher of ours has that name.
std::optional<StreamCipher> stream_cipher_by_name(std::string_view name);
/// AES where the processor has instructions for it.
StreamCipher fastest_stream_cipher();

/// Who seals: the client or the engine. Each has its own nonces.
enum class StreamSide : std::uint8_t { client = 1, engine = 2 };
constexpr StreamSide other(StreamSide side) {
  return side == StreamSide::client ? StreamSide::engine : StreamSide::client;
}

/// A secret of one stream. Never used for another one.
struct StreamKey {
  std::array<unsigned char, 32> bytes{};
};
/// 64 hexadecimal digits.  errors  bad_input: they are not.
Result<StreamKey> read_stream_key(std::string_view digits);

inline constexpr std::size_t record_length_bytes = 4, record_tag_bytes = 16;
inline constexpr std::size_t longest_record_head = 4096;
inline constexpr std::size_t longest_record_bytes = std::size_t{1} << 20;

/// What a record says.
struct StreamRecord {
  std::string_view head;   ///< What it is, as text.
  std::string_view bytes;  ///< A part of an array; may be empty.
};

/// How many bytes follow the four with which a record begins; nothing where no record is so long,
/// or so short.
std::optional<std::size_t> read_record_length(std::array<char, record_length_bytes> first);

struct CipherContext;  // OpenSSL's, for one key

/// One thread owns it.
class RecordSealer {
 public:
  RecordSealer(const StreamKey& key, StreamCipher cipher, StreamSide from);
  ~RecordSealer();
  RecordSealer(RecordSealer&&) noexcept;
  RecordSealer& operator=(RecordSealer&&) noexcept;

  /// The next record, its length in front. Valid until the next call.
  /// Precondition: neither part is longer than it may be.
  std::string_view seal(const StreamRecord& record);

 private:
  std::unique_ptr<CipherContext> context_;
  std::vector<unsigned char> buffer_;  // only grows, as pages that were used cost nothing
};

/// One thread owns it.
class RecordOpener {
 public:
  /// from  who sealed what comes.
  RecordOpener(const StreamKey& key, StreamCipher cipher, StreamSide from);
  ~RecordOpener();
  RecordOpener(RecordOpener&&) noexcept;
  RecordOpener& operator=(RecordOpener&&) noexcept;

  /// Where to put the `length` bytes of the next record that follow its first four.
  char* room(std::size_t length);
  /// What was put there. Nothing: it is not the next record of that side; from then on no other
  /// one opens either. Valid until the next room().
  std::optional<StreamRecord> open();

 private:
  std::unique_ptr<CipherContext> context_;  // null: one did not open
  std::vector<unsigned char> buffer_;
  std::size_t length_ = 0;
};

}  // namespace px::net
