#include "net/stream/sealed_record.hpp"

#include <openssl/evp.h>

#include <algorithm>

#ifdef __aarch64__
#include <sys/auxv.h>
#endif

namespace px::net {
namespace {

constexpr std::size_t block_bytes = 16, head_length_bytes = 4;
constexpr std::size_t longest_sealed =
    head_length_bytes + longest_record_head + block_bytes + longest_record_bytes + record_tag_bytes;

const EVP_CIPHER* evp_cipher(StreamCipher cipher) {
  return cipher == StreamCipher::aes_256_gcm ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
}

/// Where the bytes begin, from the first sealed one on.
std::size_t front_of(std::size_t head_bytes) {
  const std::size_t end = head_length_bytes + head_bytes;
  return (end + block_bytes - 1) / block_bytes * block_bytes;
}

void write_u32(unsigned char* to, std::size_t value) {
  for (std::size_t i = 0; i < 4; ++i) to[i] = static_cast<unsigned char>(value >> (8 * i));
}

std::size_t read_u32(const unsigned char* from) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= static_cast<std::size_t>(from[i]) << (8 * i);
  return value;
}

std::optional<unsigned char> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned char>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned char>(c - 'a' + 10);
  return std::nullopt;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

bool processor_has_aes() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("aes") != 0;
#elif defined(__aarch64__)
  constexpr unsigned long aes = 1UL << 3;
  return (::getauxval(AT_HWCAP) & aes) != 0;
#else
  return false;
#endif
}

}  // namespace

std::string_view name_of(StreamCipher cipher) {
  return cipher == StreamCipher::aes_256_gcm ? "aes-256-gcm" : "chacha20-poly1305";
}

std::optional<StreamCipher> stream_cipher_by_name(std::string_view name) {
  for (const StreamCipher cipher : {StreamCipher::aes_256_gcm, StreamCipher::chacha20_poly1305})
    if (name == name_of(cipher)) return cipher;
  return std::nullopt;
}

StreamCipher fastest_stream_cipher() {
  return processor_has_aes() ? StreamCipher::aes_256_gcm : StreamCipher::chacha20_poly1305;
}

Result<StreamKey> read_stream_key(std::string_view digits) {
  const Error error{ErrorKind::bad_input, "the key of a stream is not 64 hexadecimal digits"};
  StreamKey key;
  if (digits.size() != 2 * key.bytes.size()) return error;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) {
    const auto high = digit(digits[2 * i]), low = digit(digits[2 * i + 1]);
    if (!high || !low) return error;
    key.bytes[i] = static_cast<unsigned char>(*high << 4 | *low);
  }
  return key;
}

std::optional<std::size_t> read_record_length(std::array<char, record_length_bytes> first) {
  const std::size_t length = read_u32(bytes_of({first.data(), first.size()}));
  if (length < block_bytes + record_tag_bytes || length > longest_sealed) return std::nullopt;
  return length;
}

struct CipherContext {
  CipherContext(const StreamKey& key, StreamCipher cipher, StreamSide from, bool seals)
      : evp(EVP_CIPHER_CTX_new()) {
    check(evp && EVP_CipherInit_ex(evp, evp_cipher(cipher), nullptr, key.bytes.data(), nullptr,
                                   seals ? 1 : 0) == 1);
    nonce[0] = static_cast<unsigned char>(from);
  }
  ~CipherContext() { EVP_CIPHER_CTX_free(evp); }
  CipherContext(CipherContext&&) = delete;

  /// For the next record.
  void begin(const unsigned char* length) {
    for (std::size_t i = 0; i < 8; ++i) nonce[4 + i] = static_cast<unsigned char>(count >> (8 * i));
    ++count;
    int written = 0;
    check(EVP_CipherInit_ex(evp, nullptr, nullptr, nullptr, nonce.data(), -1) == 1 &&
          EVP_CipherUpdate(evp, nullptr, &written, length, record_length_bytes) == 1);
  }
  /// result  the place behind what was written.
  unsigned char* update(unsigned char* to, const unsigned char* from, std::size_t length) {
    int written = 0;
    check(EVP_CipherUpdate(evp, to, &written, from, static_cast<int>(length)) == 1);
    return to + written;
  }

  EVP_CIPHER_CTX* const evp;
  std::array<unsigned char, 12> nonce{};
  std::uint64_t count = 0;
};

// ---------------------------------------------------------------- sealing

RecordSealer::RecordSealer(const StreamKey& key, StreamCipher cipher, StreamSide from)
    : context_(std::make_unique<CipherContext>(key, cipher, from, true)) {}
RecordSealer::~RecordSealer() = default;
RecordSealer::RecordSealer(RecordSealer&&) noexcept = default;
RecordSealer& RecordSealer::operator=(RecordSealer&&) noexcept = default;

std::string_view RecordSealer::seal(const StreamRecord& record) {
  check(record.head.size() <= longest_record_head && record.bytes.size() <= longest_record_bytes);
  const std::size_t front = front_of(record.head.size());
  const std::size_t sealed = front + record.bytes.size() + record_tag_bytes;
  if (buffer_.size() < record_length_bytes + sealed) buffer_.resize(record_length_bytes + sealed);
  unsigned char* const begin = buffer_.data() + record_length_bytes;
  write_u32(buffer_.data(), sealed);
  write_u32(begin, record.head.size());
  std::copy(record.head.begin(), record.head.end(), begin + head_length_bytes);
  std::fill(begin + head_length_bytes + record.head.size(), begin + front, std::uint8_t{0});
  context_->begin(buffer_.data());
  unsigned char* end = context_->update(begin, begin, front);
  if (!record.bytes.empty())
    end = context_->update(end, bytes_of(record.bytes), record.bytes.size());
  int written = 0;
  check(EVP_CipherFinal_ex(context_->evp, end, &written) == 1 &&
        EVP_CIPHER_CTX_ctrl(context_->evp, EVP_CTRL_AEAD_GET_TAG, record_tag_bytes,
                            begin + front + record.bytes.size()) == 1);
  return {reinterpret_cast<const char*>(buffer_.data()), record_length_bytes + sealed};
}

// ---------------------------------------------------------------- opening

RecordOpener::RecordOpener(const StreamKey& key, StreamCipher cipher, StreamSide from)
    : context_(std::make_unique<CipherContext>(key, cipher, from, false)) {}
RecordOpener::~RecordOpener() = default;
RecordOpener::RecordOpener(RecordOpener&&) noexcept = default;
RecordOpener& RecordOpener::operator=(RecordOpener&&) noexcept = default;

char* RecordOpener::room(std::size_t length) {
  length_ = length;
  if (buffer_.size() < length) buffer_.resize(length);
  return reinterpret_cast<char*>(buffer_.data());
}

std::optional<StreamRecord> RecordOpener::open() {
  std::unique_ptr<CipherContext> context = std::move(context_);  // comes back where it opens
  if (!context || length_ < block_bytes + record_tag_bytes) return std::nullopt;
  unsigned char* const begin = buffer_.data();
  const std::size_t plain = length_ - record_tag_bytes;
  std::array<unsigned char, record_length_bytes> length{};
  write_u32(length.data(), length_);
  context->begin(length.data());
  unsigned char* const end = context->update(begin, begin, plain);
  int written = 0;
  if (EVP_CIPHER_CTX_ctrl(context->evp, EVP_CTRL_AEAD_SET_TAG, record_tag_bytes, begin + plain) !=
          1 ||
      EVP_CipherFinal_ex(context->evp, end, &written) != 1)
    return std::nullopt;
  const std::size_t head = read_u32(begin);
  if (head > longest_record_head || front_of(head) > plain) return std::nullopt;
  const std::string_view text{reinterpret_cast<const char*>(begin), plain};
  context_ = std::move(context);
  return StreamRecord{text.substr(head_length_bytes, head), text.substr(front_of(head))};
}

}  // namespace px::net
