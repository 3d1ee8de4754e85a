#include "net/stream/sealed_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace px::net {
namespace {

StreamKey key(char digit = '7') {
  return *read_stream_key(std::string(64, digit));
}

/// Each cipher.
class SealedRecord : public ::testing::TestWithParam<StreamCipher> {
 protected:
  std::string seal(std::string_view head, std::string_view bytes = {}) {
    return std::string(sealer.seal({head, bytes}));
  }
  /// "head|bytes", or "refused".
  static std::string open(RecordOpener& opener, std::string_view record) {
    std::array<char, record_length_bytes> first{};
    std::copy_n(record.begin(), first.size(), first.begin());
    const auto length = read_record_length(first);
    if (!length || *length != record.size() - first.size()) return "no such length";
    std::memcpy(opener.room(*length), record.data() + first.size(), *length);
    const auto opened = opener.open();
    return opened ? std::string(opened->head) + "|" + std::string(opened->bytes) : "refused";
  }
  std::string open(std::string_view record) { return open(opener, record); }

  RecordSealer sealer{key(), GetParam(), StreamSide::client};
  RecordOpener opener{key(), GetParam(), StreamSide::client};
};

TEST_P(SealedRecord, ComesAsItWas) {
  EXPECT_EQ(open(seal("head", "bytes")), "head|bytes");
  EXPECT_EQ(open(seal("only a head")), "only a head|");
  EXPECT_EQ(open(seal("", "only bytes")), "|only bytes");
  EXPECT_EQ(open(seal("", "")), "|");
  const std::string longest_head(longest_record_head, 'h'), longest(longest_record_bytes, 'b');
  EXPECT_EQ(open(seal(longest_head, longest)), longest_head + "|" + longest);
}

TEST_P(SealedRecord, HidesWhatItSays) {
  const std::string record = seal("the head", std::string(64, 'b'));
  EXPECT_EQ(record.find("the head"), record.npos);
  EXPECT_EQ(record.find("bbbb"), record.npos);
  EXPECT_NE(record.substr(4), seal("the head", std::string(64, 'b')).substr(4));
}

TEST_P(SealedRecord, DoesNotOpenWhereAnyBitWasChanged) {
  const std::string record = seal("head", "bytes");
  for (std::size_t bit = 8 * record_length_bytes; bit < 8 * record.size(); ++bit) {
    std::string forged = record;
    forged[bit / 8] = static_cast<char>(forged[bit / 8] ^ (1 << bit % 8));
    RecordOpener fresh{key(), GetParam(), StreamSide::client};
    EXPECT_EQ(open(fresh, forged), "refused") << "bit " << bit;
  }
}

TEST_P(SealedRecord, DoesNotOpenASecondTime) {
  const std::string record = seal("head", "bytes");
  EXPECT_EQ(open(record), "head|bytes");
  EXPECT_EQ(open(record), "refused");
}

TEST_P(SealedRecord, DoesNotOpenBeforeThoseThatWereSealedBeforeIt) {
  const std::string first = seal("first");
  EXPECT_EQ(open(seal("second")), "refused");
  EXPECT_EQ(open(first), "refused");  // nothing opens after one that did not
}

TEST_P(SealedRecord, DoesNotOpenWhereItsEndIsMissing) {
  const std::string record = seal("head", std::string(100, 'b'));
  EXPECT_EQ(open(record.substr(0, record.size() - 1)), "no such length");
  // With a length that fits what is left.
  std::string shorter = record.substr(0, record.size() - 16);
  shorter[0] = static_cast<char>(shorter[0] - 16);
  EXPECT_EQ(open(shorter), "refused");
}

TEST_P(SealedRecord, DoesNotOpenWithAnotherKeyNorAsOneOfTheOtherSide) {
  const std::string record = seal("head");
  RecordOpener stranger{key('8'), GetParam(), StreamSide::client};
  EXPECT_EQ(open(stranger, record), "refused");
  RecordOpener mirror{key(), GetParam(), StreamSide::engine};  // to whom it is sent back
  EXPECT_EQ(open(mirror, record), "refused");
}

INSTANTIATE_TEST_SUITE_P(Ciphers, SealedRecord,
                         ::testing::Values(StreamCipher::aes_256_gcm,
                                           StreamCipher::chacha20_poly1305),
                         [](const auto& each) {
                           return each.param == StreamCipher::aes_256_gcm ? "AES" : "ChaCha20";
                         });

TEST(RecordLength, IsThatOfNoRecordWhereItIsTooShortOrTooLong) {
  EXPECT_EQ(read_record_length({31, 0, 0, 0}), std::nullopt);
  EXPECT_EQ(read_record_length({32, 0, 0, 0}), 32U);
  EXPECT_EQ(read_record_length({0, 0, 0, 1}), std::nullopt);
  EXPECT_EQ(read_record_length({'\xff', '\xff', '\xff', '\xff'}), std::nullopt);
}

TEST(StreamKeyText, HasSixtyFourHexadecimalDigits) {
  EXPECT_EQ(read_stream_key("0a" + std::string(60, '0') + "f1")->bytes.front(), 10);
  EXPECT_EQ(read_stream_key("0a" + std::string(60, '0') + "f1")->bytes.back(), 0xf1);
  EXPECT_FALSE(read_stream_key(""));
  EXPECT_FALSE(read_stream_key(std::string(63, '0')));
  EXPECT_FALSE(read_stream_key(std::string(66, '0')));
  EXPECT_FALSE(read_stream_key(std::string(63, '0') + "g"));
  EXPECT_FALSE(read_stream_key(std::string(63, '0') + "A"));
}

TEST(StreamCipherName, IsReadBack) {
  for (const StreamCipher cipher : {StreamCipher::aes_256_gcm, StreamCipher::chacha20_poly1305})
    EXPECT_EQ(stream_cipher_by_name(name_of(cipher)), cipher);
  EXPECT_EQ(stream_cipher_by_name("aes-128-gcm"), std::nullopt);
  EXPECT_EQ(stream_cipher_by_name(""), std::nullopt);
}

}  // namespace
}  // namespace px::net
