#include "tests/wire/vectors.hpp"

#include <gtest/gtest.h>

#include "wire/envelope.hpp"
#include "wire/header.hpp"
#include "wire/json.hpp"
#include "wire/json_scan.hpp"
#include "wire/session.hpp"
#include "wire/signature.hpp"

namespace px {
namespace {

/// One test for each captured message.
class Vector : public ::testing::TestWithParam<std::string> {
 protected:
  static const Vectors& all() {
    static const Vectors vectors = read_vectors();
    return vectors;
  }
  const Frames& frames() const { return all().messages.at(GetParam()); }
  Envelope envelope() const { return *Envelope::locate(frames()); }
  static Signer signer() { return *Signer::create("hmac-sha256", all().key); }

 public:
  static std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto& [name, frames] : all().messages) names.push_back(name);
    return names;
  }
};

TEST_P(Vector, IsSignedAsWeSign) {
  const Envelope e = envelope();
  EXPECT_EQ(signer().sign(e.header, e.parent_header, e.metadata, e.content), e.signature);
  EXPECT_TRUE(signer().verify(e));
}

TEST_P(Vector, IsRefusedOnceAnySignedByteIsChanged) {
  for (std::size_t part = 2; part <= 5; ++part) {
    std::vector<std::string> changed;
    for (std::size_t i = 0; i < frames().size(); ++i) changed.emplace_back(frames().at(i));
    changed[envelope().delimiter_index() + part].back() ^= 1;
    const TextFrames forged{changed};
    EXPECT_FALSE(signer().verify(*Envelope::locate(forged))) << part;
  }
}

TEST_P(Vector, HasAHeaderThatWeReadAndWriteByteForByte) {
  const Result<Header> header = read_header(Packer::json, envelope().header);
  ASSERT_TRUE(header);
  EXPECT_EQ(write_header(Packer::json, *header), envelope().header);
  EXPECT_EQ(header->username, "alice");
  EXPECT_EQ(header->version, protocol_version);
  EXPECT_TRUE(header->msg_id.text.starts_with(header->session.text + "_"));
  const auto date = parse_date(header->date);
  ASSERT_TRUE(date);
  EXPECT_EQ(format_date(*date), header->date);
}

TEST_P(Vector, NamesItsRequestInTheParentHeader) {
  const Json parent = *unpack(Packer::json, envelope().parent_header);
  EXPECT_EQ(read_msg_id(Packer::json, envelope().parent_header).text,
            string_member(parent, "msg_id").value_or(""));
}

TEST_P(Vector, HasPartsInWhichTheScannerFindsWhatTheParserFinds) {
  const Envelope e = envelope();
  for (const std::string_view part : {e.header, e.parent_header, e.metadata, e.content}) {
    const Json parsed = *unpack(Packer::json, part);
    std::size_t count = 0;
    JsonMembers members{part};
    for (; members.next(); ++count)
      EXPECT_EQ(Json::parse(members.value()), parsed.at(std::string(members.key())));
    EXPECT_TRUE(members.ok());
    EXPECT_EQ(count, parsed.size());
  }
}

TEST_P(Vector, IsTheSameOnceTakenApartAndSealedAgain) {
  const Envelope e = envelope();
  const Session session{SessionId{"s"}, "alice", Packer::json, signer()};
  const auto sealed = session.seal(std::string(e.header), std::string(e.parent_header),
                                   std::string(e.metadata), std::string(e.content));
  ASSERT_EQ(sealed.size(), 6u);
  for (std::size_t i = 0; i < sealed.size(); ++i)
    EXPECT_EQ(sealed[i], frames().at(e.delimiter_index() + i));
}

INSTANTIATE_TEST_SUITE_P(All, Vector, ::testing::ValuesIn(Vector::names()),
                         [](const auto& tested) { return tested.param; });

std::size_t ident_count(const Vectors& vectors, const std::string& name) {
  return Envelope::locate(vectors.messages.at(name))->ident_count;
}

TEST(Vectors, AreAllThere) {
  const Vectors vectors = read_vectors();
  EXPECT_EQ(vectors.messages.size(), 27u);
  for (int i = 1; i <= 13; ++i) {
    const std::string prefix = "V" + std::to_string(i) + "_";
    const auto found = vectors.messages.lower_bound(prefix);
    EXPECT_TRUE(found != vectors.messages.end() && found->first.starts_with(prefix)) << prefix;
  }
}

TEST(Vectors, HaveTheirRoutingFramesCounted) {
  const Vectors vectors = read_vectors();
  EXPECT_EQ(ident_count(vectors, "V1_registration_request"), 0u);
  EXPECT_EQ(ident_count(vectors, "V2_new_heart"), 2u);
  EXPECT_EQ(ident_count(vectors, "V4_direct_apply"), 1u);
  EXPECT_EQ(ident_count(vectors, "V9_broadcast_c_leaf_to_engine"), 2u);
}

TEST(Vectors, HaveTheirBuffersBehindTheContent) {
  const Vectors vectors = read_vectors();
  const TextFrames& frames = vectors.messages.at("V10_array_apply");
  const Envelope e = *Envelope::locate(frames);
  ASSERT_EQ(frames.size() - e.first_buffer, 4u);
  EXPECT_EQ(frames.at(e.first_buffer + 3), std::string(1600, '\0'));
}

TEST(Vectors, TheSmallestMessageHasTheKnownSignature) {
  const Signer signer = *Signer::create("hmac-sha256", read_vectors().key);
  EXPECT_EQ(signer.sign("{}", "{}", "{}", "{}"),
            "cf05f383e4cb4e69224d0b527c8b32c029e75278c06c999ed67ecbb1abbf58d3");
}

}  // namespace
}  // namespace px
