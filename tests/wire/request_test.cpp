#include <gtest/gtest.h>

#include "tests/wire/requests.hpp"
#include "wire/request.hpp"

namespace px {
namespace {

using testing::Sender;

TEST(RequestReader, TakesWhatIsSignedWithTheKeyOnce) {
  Sender sender;
  RequestReader reader{*Signer::create("hmac-sha256", "secret"), Packer::json};
  const SharedFrames frames = sender.frames("apply_request");
  const Result<RequestPtr> request = reader.read(Channel::shell, 2, frames);
  ASSERT_TRUE(request);
  EXPECT_EQ((*request)->type(), "apply_request");
  EXPECT_EQ((*request)->idents(), std::vector<std::string>{"client-ident"});
  EXPECT_FALSE(reader.read(Channel::shell, 2, frames)) << "a replay";
}

TEST(RequestReader, RefusesAnotherKeyAndShortMessages) {
  RequestReader reader{*Signer::create("hmac-sha256", "secret"), Packer::json};
  Sender stranger{"another key"};
  EXPECT_FALSE(reader.read(Channel::shell, 0, stranger.frames("apply_request")));
  EXPECT_FALSE(reader.read(Channel::shell, 0, std::make_shared<TextFrames>()));
  EXPECT_FALSE(reader.read(Channel::shell, 0,
                           std::make_shared<TextFrames>(std::vector<std::string>{"<IDS|MSG>"})));
}

TEST(RequestReader, ReadsTheOldProtocolAsTodays) {
  const Signer signer = *Signer::create("hmac-sha256", "secret");
  const std::string header = R"({"msg_id": "1", "msg_type": "object_info_request"})";
  const std::string content = R"({"oname": "range"})";
  std::vector<std::string> frames{
      "client-ident", "<IDS|MSG>", signer.sign(header, "{}", "{}", content), header, "{}", "{}",
      content,        "a buffer"};
  RequestReader reader{signer, Packer::json};
  const auto request =
      reader.read(Channel::shell, 0, std::make_shared<TextFrames>(std::move(frames)));
  ASSERT_TRUE(request);
  EXPECT_EQ((*request)->type(), "inspect_request");
  EXPECT_EQ((*request)->envelope.header, header) << "what the reply repeats";
  EXPECT_EQ(Json::parse((*request)->envelope.content),
            Json({{"code", "range"}, {"cursor_pos", 5}, {"detail_level", 0}}));
  EXPECT_EQ((*request)->frames->at(7), "a buffer");
}

}  // namespace
}  // namespace px
