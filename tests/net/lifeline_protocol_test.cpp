#include "net/lifeline/lifeline_protocol.hpp"

#include <gtest/gtest.h>

#include "wire/json.hpp"

namespace px::net {
namespace {

const EngineUuid ann{"27bd0af2-233bc2652248e7076272790d"};

Signer signer(std::string_view key = "secret") {
  return *Signer::create("hmac-sha256", key);
}

std::string_view without_newline(std::string_view line) {
  return line.substr(0, line.size() - 1);
}

TEST(LifelineProtocol, AnEngineSaysThatItComesThroughATunnel) {
  const std::string nonce = new_key();
  const LifelineHolder holder{ann, true};
  const std::string line = write_lifeline_answer(holder, nonce, signer());
  EXPECT_EQ(read_lifeline_answer(without_newline(line), nonce, signer()).value(), holder);
}

TEST(LifelineProtocol, AGreetingCarriesTheNonceInOneLine) {
  const std::string nonce = new_key();
  const std::string line = write_lifeline_greeting(nonce);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(read_lifeline_greeting(without_newline(line)).value(), nonce);
}

TEST(LifelineProtocol, WhatIsNoGreetingIsRefused) {
  for (const std::string_view line :
       {"", "{}", "HTTP/1.1 400 Bad Request", "{\"nonce\": 7}", "{\"nonce\": \"short\"}"})
    EXPECT_FALSE(read_lifeline_greeting(line)) << line;
  const std::string not_hexadecimal(64, '{');
  EXPECT_FALSE(read_lifeline_greeting(without_newline(write_lifeline_greeting(not_hexadecimal))));
}

TEST(LifelineProtocol, AnAnswerNamesTheEngineThatHasTheKey) {
  const std::string nonce = new_key();
  const std::string line = write_lifeline_answer({ann}, nonce, signer());
  EXPECT_LE(line.size(), max_lifeline_line);
  EXPECT_EQ(read_lifeline_answer(without_newline(line), nonce, signer()).value().uuid, ann);
}

TEST(LifelineProtocol, AnAnswerWithAnotherKeyIsRefused) {
  const std::string nonce = new_key();
  const std::string line = write_lifeline_answer({ann}, nonce, signer("another"));
  EXPECT_FALSE(read_lifeline_answer(without_newline(line), nonce, signer()));
}

TEST(LifelineProtocol, ARecordedAnswerIsOfNoUseOnAnotherConnection) {
  const std::string line = write_lifeline_answer({ann}, new_key(), signer());
  EXPECT_FALSE(read_lifeline_answer(without_newline(line), new_key(), signer()));
}

TEST(LifelineProtocol, AnAnswerCannotBePassedOffAsAnotherEngines) {
  const std::string nonce = new_key();
  const Json answer = *unpack(Packer::json, write_lifeline_answer({ann}, nonce, signer()));
  const Json forged{{"uuid", "another"}, {"signature", answer["signature"]}};
  EXPECT_FALSE(read_lifeline_answer(pack(Packer::json, forged), nonce, signer()));
}

TEST(LifelineProtocol, WithoutAKeyEveryNameIsTaken) {
  const std::string line = write_lifeline_answer({ann}, new_key(), signer(""));
  EXPECT_EQ(read_lifeline_answer(without_newline(line), new_key(), signer("")).value().uuid, ann);
}

TEST(LifelineProtocol, AnAnswerWithoutAUsableNameIsRefused) {
  const std::string nonce = new_key();
  for (const std::string& name : {std::string(), std::string(256, 'x')}) {
    const std::string line = write_lifeline_answer({EngineUuid{name}}, nonce, signer());
    EXPECT_FALSE(read_lifeline_answer(without_newline(line), nonce, signer())) << name.size();
  }
  for (const std::string_view line : {"", "null", "[]", "{}", "{\"uuid\": 1, \"signature\": 2}"})
    EXPECT_FALSE(read_lifeline_answer(line, nonce, signer())) << line;
}

TEST(LifelineProtocol, ALineIsGatheredFromItsPieces) {
  FirstLine line;
  EXPECT_FALSE(line.add("{\"uu"));
  EXPECT_FALSE(line.add("id\":"));
  EXPECT_EQ(line.add(" 1}\nwhat follows"), "{\"uuid\": 1}");
}

TEST(LifelineProtocol, ALineMayHaveAKibibyteAndNoMore) {
  const std::string longest(max_lifeline_line, 'x');
  FirstLine fits;
  EXPECT_EQ(fits.add(longest + "\n"), longest);
  EXPECT_FALSE(fits.is_too_long());
  FirstLine too_long;
  EXPECT_FALSE(too_long.add(longest + "x\n"));
  EXPECT_TRUE(too_long.is_too_long());
  EXPECT_FALSE(too_long.add("\n"));
  EXPECT_TRUE(too_long.is_too_long());
}

}  // namespace
}  // namespace px::net
