#include "wire/json_scan.hpp"

#include <gtest/gtest.h>

#include <random>

#include "wire/checked_json.hpp"
#include "wire/json.hpp"

namespace px {
namespace {

/// A random value; its texts hold the characters that make scanning hard.
class RandomJson {
 public:
  explicit RandomJson(unsigned seed) : random_(seed) {}
  Json object(int depth) {
    Json made = Json::object();
    for (unsigned i = upto(5); i > 0; --i) made[text()] = value(depth - 1);
    return made;
  }
  unsigned upto(unsigned limit) { return static_cast<unsigned>(random_() % (limit + 1)); }

 private:
  Json value(int depth) {
    switch (upto(depth > 0 ? 6 : 4)) {
      case 0:
        return text();
      case 1:
        return static_cast<int>(random_());
      case 2:
        return static_cast<double>(random_()) / 7;
      case 3:
        return upto(1) == 1;
      case 4:
        return nullptr;
      case 5:
        return object(depth);
      default: {
        Json list = Json::array();
        for (unsigned i = upto(4); i > 0; --i) list.push_back(value(depth - 1));
        return list;
      }
    }
  }
  std::string text() {
    static constexpr std::string_view pieces[] = {"a", "\"", "\\", "{",  "}",      "[",      "]",
                                                  ",", ":",  " ",  "\n", "\u00fc", "msg_id", "\t"};
    std::string made;
    for (unsigned i = upto(6); i > 0; --i) made += pieces[upto(std::size(pieces) - 1)];
    return made;
  }
  std::mt19937 random_;
};

std::string quoted(std::string_view key) {
  return "\"" + std::string(key) + "\"";
}

TEST(JsonScan, FindsWhatTheParserFinds) {
  RandomJson random{1};
  for (int round = 0; round < 3000; ++round) {
    const Json object = random.object(4);
    const std::string text = object.dump(random.upto(1) == 1 ? 2 : -1);
    std::size_t count = 0;
    JsonMembers members{text};
    for (; members.next(); ++count)
      EXPECT_EQ(Json::parse(members.value()), object.at(*unquote(quoted(members.key())))) << text;
    EXPECT_TRUE(members.ok()) << text;
    EXPECT_EQ(count, object.size()) << text;
  }
}

TEST(JsonScan, RefusesEveryShortenedObject) {
  RandomJson random{2};
  for (int round = 0; round < 300; ++round) {
    const std::string text = random.object(3).dump();
    for (std::size_t size = 0; size < text.size(); ++size) {
      JsonMembers members{std::string_view(text).substr(0, size)};
      while (members.next()) {
      }
      EXPECT_FALSE(members.ok()) << text.substr(0, size);
    }
  }
}

TEST(JsonScan, RefusesWhatIsNoObject) {
  for (const std::string_view text :
       {"", " ", "[]", "1", "{", "}", "{]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}",
        "{} {}", "{\"a\":1} x", "{\"a\":\"b\" \"c\"}", "{\"a\":1 2}", "{\"a\":[1}"}) {
    JsonMembers members{text};
    while (members.next()) {
    }
    EXPECT_FALSE(members.ok()) << text;
    EXPECT_FALSE(find_member(text, "a")) << text;
  }
}

TEST(JsonScan, FindsTheLastOfTwoMembersOfOneName) {
  EXPECT_EQ(find_member(R"({"a": 1, "b": 2, "a": [3, "]"]})", "a"), R"([3, "]"])");
}

TEST(JsonScan, DoesNotFindANestedMember) {
  EXPECT_FALSE(find_member(R"({"in": {"msg_id": "x"}, "text": "\"msg_id\": \"y\""})", "msg_id"));
}

TEST(JsonScan, TakesTheSpaceAroundAValueOff) {
  EXPECT_EQ(find_member(" { \"a\" : \n 1 \t } ", "a"), "1");
}

TEST(JsonScan, AMemberOfAPackedObjectIsReadOrNull) {
  EXPECT_EQ(packed_member(Packer::json, R"({"a": [1], "b": 2})", "a"), Json({1}));
  EXPECT_EQ(packed_member(Packer::msgpack, pack(Packer::msgpack, {{"a", "x"}}), "a"), "x");
  const std::string deep = "{\"a\": " + std::string(300'000, '[') + std::string(300'000, ']') + "}";
  EXPECT_TRUE(packed_member(Packer::json, deep, "a").is_null());
  EXPECT_TRUE(packed_member(Packer::json, R"({"a": nul})", "a").is_null());
  EXPECT_TRUE(packed_member(Packer::json, "{}", "a").is_null());
}

TEST(JsonScan, UnquotesAString) {
  EXPECT_EQ(unquote(R"("plain")"), "plain");
  EXPECT_EQ(unquote(R"("")"), "");
  EXPECT_EQ(unquote(R"("\u00fc\"\\\n")"), "\u00fc\"\\\n");
  for (const std::string_view raw : {"", "\"", "1", "null", "{}", R"("\x")", R"("\ud800")"})
    EXPECT_FALSE(unquote(raw)) << raw;
}

}  // namespace
}  // namespace px
