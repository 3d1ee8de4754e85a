#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px::net {

// The bytes on a stream (see stream.hpp), without the sockets: a sequence of records, each sealed
// by an authenticated cipher (AEAD):
//   length  4 bytes, little-endian: of the rest; authenticated
//   sealed  length of the head (4 bytes, little-endian), head, zeros up to a multiple of 16, bytes
//   tag     16 bytes
// The nonce of a record is not sent: it consists of the sender's side and the number of records
// that this side has sealed before. So a record cannot be opened if it was changed, repeated or
// reordered, if a record before it was omitted, or if it comes from the other side or from another
// stream.

/// The ciphers for records. The client chooses one in its offer.
enum class StreamCipher { aes_256_gcm, chacha20_poly1305 };
std::string_view name_of(StreamCipher cipher);  ///< "aes-256-gcm"
/// The cipher of that name; nothing if there is none.
std::optional<StreamCipher> stream_cipher_by_name(std::string_view name);
/// The faster cipher on this processor: AES if it has instructions for that.
StreamCipher fastest_stream_cipher();

/// The two ends of a stream. Each has its own nonces, so that both can use one key.
enum class StreamSide : std::uint8_t { client = 1, engine = 2 };
constexpr StreamSide other(StreamSide side) {
  return side == StreamSide::client ? StreamSide::engine : StreamSide::client;
}

/// The secret key of one stream, which only its two ends know. Never used for another stream: that
/// would repeat nonces.
struct StreamKey {
  std::array<unsigned char, 32> bytes{};
};
/// Reads a key.
/// digits  64 hexadecimal digits, lower case.
/// errors  bad_input: not such digits.
Result<StreamKey> read_stream_key(std::string_view digits);

/// The sizes of the parts of a record in bytes, and the most that `head` and `bytes` may have.
inline constexpr std::size_t record_length_bytes = 4, record_tag_bytes = 16;
inline constexpr std::size_t longest_record_head = 4096;
inline constexpr std::size_t longest_record_bytes = std::size_t{1} << 20;

/// The content of a record. Its users define the meaning of the head: a JSON object with a message
/// type.
struct StreamRecord {
  std::string_view head;   ///< The kind of the record, as text.
  std::string_view bytes;  ///< A part of an array; may be empty.
};

/// The length of a record, read from its first four bytes: this number of bytes follows them.
/// Nothing if no record has this length; the stream must be closed in this case.
std::optional<std::size_t> read_record_length(std::array<char, record_length_bytes> first);

struct CipherContext;  // OpenSSL's, for one key

/// Seals the records of one side of a stream, in the order in which they are sent. One thread owns
/// it.
class RecordSealer {
 public:
  /// from  the side that seals.
  RecordSealer(const StreamKey& key, StreamCipher cipher, StreamSide from);
  ~RecordSealer();
  RecordSealer(RecordSealer&&) noexcept;
  RecordSealer& operator=(RecordSealer&&) noexcept;

  /// The bytes of the next record as they are sent, with the length in front. Valid until the next
  /// call.
  /// Precondition: head and bytes are not longer than longest_record_head and longest_record_bytes.
  std::string_view seal(const StreamRecord& record);

 private:
  std::unique_ptr<CipherContext> context_;
  std::vector<unsigned char> buffer_;  // only grows, because used pages cost nothing
};

/// Opens the records that the other side has sealed, in the same order. One thread owns it.
class RecordOpener {
 public:
  /// from  the side that has sealed the records.
  RecordOpener(const StreamKey& key, StreamCipher cipher, StreamSide from);
  ~RecordOpener();
  RecordOpener(RecordOpener&&) noexcept;
  RecordOpener& operator=(RecordOpener&&) noexcept;

  /// The memory for the `length` bytes of the next record that follow its first four. The caller
  /// reads them from the socket into it and calls open() after that.
  char* room(std::size_t length);
  /// Opens the record in that memory. Nothing if it is not the next record of that side; after that
  /// no other record opens either. Valid until the next room().
  std::optional<StreamRecord> open();

 private:
  std::unique_ptr<CipherContext> context_;  // null: a record could not be opened
  std::vector<unsigned char> buffer_;
  std::size_t length_ = 0;
};

}  // namespace px::net
