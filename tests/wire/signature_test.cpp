#include "wire/signature.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace px {
namespace {

Envelope envelope(std::string_view signature) {
  return {.signature = signature,
          .header = "{}",
          .parent_header = "{}",
          .metadata = "{}",
          .content = "{}"};
}

TEST(Signer, SignsByEveryHashThatPythonNames) {
  // hmac.new(b"key", b"{}{}{}{}", name).hexdigest()
  const std::pair<std::string_view, std::string_view> known[] = {
      {"hmac-md5", "88ed3bf3975f2203f34885b90c6a283c"},
      {"hmac-sha1", "c7afc9cb14b86470fa517605b0405652f2043126"},
      {"hmac-sha256", "ca767b02c5bc061ed184a9a029e7f93a7f2f7ed4e8fe74120fc1212f0b008fa3"},
      {"hmac-sha512",
       "2f7411556710fc214f2814c82351b6da0d593441526d7fb5d61e38db31d8df3d4545a45c78f7f625155182763dd"
       "fa48e3b574b0a633ac49ee60991f8a3ab719c"},
      {"hmac-sha3_256", "6abf3f7198238a1b724312ab076ddf045ba59c72917661d9411d511287119f51"},
      {"hmac-blake2b",
       "0bd748408a22300379a8c2548bc9fc21b574be30e1d6f47d2aad9710bb9239452da32662fe9c6d05dc57b737e8d"
       "1f7b68cc4d388c918d5778cd84e789e593ed7"},
      {"hmac-blake2s", "d669bc2254fe96825a2d08a4d35b42a729fc3f3bb1d2006dc90904e56665318c"},
  };
  for (const auto& [scheme, right] : known) {
    const Result<Signer> signer = Signer::create(scheme, "key");
    ASSERT_TRUE(signer) << scheme;
    EXPECT_EQ(signer->sign("{}", "{}", "{}", "{}"), right) << scheme;
  }
}

TEST(Signer, RefusesASchemeThatIsNoHmacOfAKnownHash) {
  for (const std::string_view scheme : {"", "sha256", "hmac-", "hmac-nothing", "hmac"}) {
    const Result<Signer> signer = Signer::create(scheme, "key");
    ASSERT_FALSE(signer) << scheme;
    EXPECT_EQ(signer.error().kind, ErrorKind::bad_input);
    EXPECT_NE(signer.error().what.find("'" + std::string(scheme) + "'"), std::string::npos);
  }
}

TEST(Signer, SignsAgainAndAgainWithTheSameKey) {
  const Signer signer = *Signer::create("hmac-sha256", "key");
  const std::string first = signer.sign("a", "b", "c", "d");
  EXPECT_EQ(signer.sign("a", "b", "c", "d"), first);
  EXPECT_EQ(signer.sign("abcd", "", "", ""), first);  // parts are not set apart
  EXPECT_NE(signer.sign("a", "b", "c", ""), first);
}

TEST(Signer, RefusesWhatIsNotExactlyTheSignature) {
  const Signer signer = *Signer::create("hmac-sha256", "key");
  const std::string right = signer.sign("{}", "{}", "{}", "{}");
  EXPECT_TRUE(signer.verify(envelope(right)));
  std::string upper = right;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  for (const std::string& wrong :
       {std::string(), upper, right.substr(1), right + "0", right + right})
    EXPECT_FALSE(signer.verify(envelope(wrong))) << wrong;
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::string wrong = right;
    wrong[i] = wrong[i] == '0' ? '1' : '0';
    EXPECT_FALSE(signer.verify(envelope(wrong))) << i;
  }
}

TEST(Signer, WithoutAKeySignsNothingAndTakesEverything) {
  const Signer signer = *Signer::create("hmac-sha256", "");
  EXPECT_FALSE(signer.is_enabled());
  EXPECT_EQ(signer.sign("{}", "{}", "{}", "{}"), "");
  EXPECT_TRUE(signer.verify(envelope("")));
  EXPECT_TRUE(signer.verify(envelope("anything")));
}

TEST(Signer, ACopySignsTheSameOnAnotherThread) {
  const Signer signer = *Signer::create("hmac-sha256", "key");
  const std::string right = signer.sign("{}", "{}", "{}", "{}");
  std::string other;
  std::thread thread{[copy = signer, &other] {
    for (int i = 0; i < 100; ++i) other = copy.sign("{}", "{}", "{}", "{}");
  }};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(signer.sign("{}", "{}", "{}", "{}"), right);
  thread.join();
  EXPECT_EQ(other, right);
}

TEST(Signer, ACopyOfOneThatSignsNothingSignsNothing) {
  Signer signer = *Signer::create("hmac-sha256", "key");
  const Signer off = *Signer::create("hmac-sha256", "");
  signer = off;
  EXPECT_FALSE(signer.is_enabled());
}

}  // namespace
}  // namespace px
