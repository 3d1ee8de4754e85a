#include "wire/json.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "wire/checked_json.hpp"

namespace px {
namespace {

Json everything() {
  return Json{{"text", "gr\u00fc\u00df \"dich\"\n"},
              {"int", -7},
              {"big", 18446744073709551615ull},
              {"float", 0.25},
              {"yes", true},
              {"nothing", nullptr},
              {"list", {1, "two", Json::array()}},
              {"object", {{"", Json::object()}}}};
}

TEST(Packer, IsKnownByItsName) {
  EXPECT_EQ(*packer_by_name(""), Packer::json);
  EXPECT_EQ(*packer_by_name("json"), Packer::json);
  EXPECT_EQ(*packer_by_name("orjson"), Packer::json);
  EXPECT_EQ(*packer_by_name("msgpack"), Packer::msgpack);
}

TEST(Packer, ThatOnlyPythonCouldReadIsRefused) {
  for (const std::string_view name : {"pickle", "my.module.pack"}) {
    const auto packer = packer_by_name(name);
    ASSERT_FALSE(packer);
    EXPECT_EQ(packer.error().kind, ErrorKind::bad_input);
    EXPECT_NE(packer.error().what.find(name), std::string::npos);
  }
}

class EachPacker : public ::testing::TestWithParam<Packer> {};

TEST_P(EachPacker, ReadsWhatItWrote) {
  const Packer packer = GetParam();
  EXPECT_EQ(*unpack(packer, pack(packer, everything())), everything());
  EXPECT_EQ(*unpack(packer, pack(packer, Json::object())), Json::object());
}

TEST_P(EachPacker, RefusesEveryShortenedText) {
  const std::string whole = pack(GetParam(), everything());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(unpack(GetParam(), std::string_view(whole).substr(0, size))) << size;
}

TEST_P(EachPacker, RefusesWhatFollowsTheObject) {
  EXPECT_FALSE(unpack(GetParam(), pack(GetParam(), everything()) + "x"));
}

TEST_P(EachPacker, RefusesWhatIsNoObject) {
  for (const Json& value : {Json(1), Json("text"), Json(nullptr), Json::array({1})})
    EXPECT_FALSE(unpack(GetParam(), pack(GetParam(), value)));
}

TEST_P(EachPacker, RefusesWhatNestsTooDeeply) {
  Json nested = Json::object();
  for (std::size_t depth = 1; depth < max_json_depth; ++depth) nested = Json{{"in", nested}};
  EXPECT_EQ(*unpack(GetParam(), pack(GetParam(), nested)), nested);
  EXPECT_FALSE(unpack(GetParam(), pack(GetParam(), Json{{"in", nested}})));
}

TEST_P(EachPacker, KeepsTheLastOfTwoMembersOfOneName) {
  const std::string twice = GetParam() == Packer::json ? R"({"a": 1, "a": 2})"
                                                       : "\x82\xa1"
                                                         "a\x01\xa1"
                                                         "a\x02";
  EXPECT_EQ(*unpack(GetParam(), twice), (Json{{"a", 2}}));
}

INSTANTIATE_TEST_SUITE_P(All, EachPacker, ::testing::Values(Packer::json, Packer::msgpack),
                         [](const auto& tested) {
                           return tested.param == Packer::json ? "json" : "msgpack";
                         });

TEST(Json, WritesTextUnescapedAndWhatIsNoNumberAsNull) {
  EXPECT_EQ(pack(Packer::json, Json{{"a", "\u00fc"}}), "{\"a\":\"\u00fc\"}");
  EXPECT_EQ(pack(Packer::json, Json{{"a", std::nan("")}, {"b", HUGE_VAL}}),
            "{\"a\":null,\"b\":null}");
}

TEST(Json, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(pack(Packer::json, Json{{"a", "x\xff"}}), "{\"a\":\"x\ufffd\"}");
}

TEST(Json, NeverAllocatesWhatAMessageOnlyPromises) {
  EXPECT_FALSE(unpack(Packer::msgpack, "\xdf\xff\xff\xff\xff"));  // a map of 2^32-1
  EXPECT_FALSE(unpack(Packer::msgpack,
                      "\x81\xa1"
                      "a\xdd\xff\xff\xff\xff"));  // a list of 2^32-1
  EXPECT_FALSE(unpack(Packer::msgpack,
                      "\x81\xa1"
                      "a\xdb\xff\xff\xff\xff"));  // a text of 4 GiB
}

TEST(Json, EndsAtItsEndAndNotAtAZeroByte) {
  EXPECT_FALSE(unpack(Packer::json, std::string_view("{}\0more", 7)));
  EXPECT_FALSE(unpack(Packer::json, std::string_view("{}\0", 3)));
}

TEST(Json, ANumberTooLargeForADoubleIsRefused) {
  EXPECT_FALSE(unpack(Packer::json, R"({"a": 1e999})"));
}

TEST(Json, MembersAreReadOnlyInTheirType) {
  const Json object = everything();
  EXPECT_EQ(int_member(object, "int"), -7);
  EXPECT_EQ(bool_member(object, "yes"), true);
  EXPECT_EQ(number_member(object, "int"), double(*int_member(object, "int")));
  EXPECT_FALSE(number_member(object, "text"));
  EXPECT_EQ(object_member(object, "text"), Json::object());
  EXPECT_EQ(object_member(Json{{"inner", {{"a", 1}}}}, "inner"), (Json{{"a", 1}}));
  EXPECT_TRUE(text_or_null("").is_null());
  EXPECT_EQ(text_or_null("x"), "x");
  EXPECT_EQ(string_member(object, "text"), "gr\u00fc\u00df \"dich\"\n");
  EXPECT_FALSE(int_member(object, "float"));
  EXPECT_FALSE(string_member(object, "int"));
  EXPECT_FALSE(bool_member(object, "nothing"));
  EXPECT_FALSE(string_member(object, "absent"));
  EXPECT_FALSE(string_member(Json::array(), "absent"));
}

TEST(Json, TheStringsOfAListAreReadWithoutWhatElseItHolds) {
  using Strings = std::vector<std::string>;
  const Json object = {{"list", {"a", 1, nullptr, "", Json::array()}}, {"text", "a"}};
  EXPECT_EQ(strings_member(object, "list"), (Strings{"a", ""}));
  EXPECT_EQ(strings_member(Json{{"list", Json::array()}}, "list"), Strings{});
  EXPECT_FALSE(strings_member(object, "text"));
  EXPECT_FALSE(strings_member(object, "absent"));
}

TEST(Json, AnIntegerThatDoesNotFitIsNoIntegerMember) {
  EXPECT_FALSE(int_member(everything(), "big"));
  EXPECT_EQ(integer_member<std::uint64_t>(everything(), "big"), 18446744073709551615ull);
  EXPECT_EQ(read_integer<int>(Json(2147483647)), 2147483647);
  for (const Json& other : {Json(2147483648), Json(-2147483649), Json(4294967296), Json(1.0),
                            Json("1"), Json(true), Json(nullptr)})
    EXPECT_FALSE(read_integer<int>(other)) << other;
  EXPECT_FALSE(read_integer<std::size_t>(Json(-1)));
}

TEST(Json, AMemberThatIsAbsentIsNullAsIsThatOfNoObject) {
  EXPECT_EQ(json_member(Json{{"a", {1}}}, "a"), Json::array({1}));
  EXPECT_TRUE(json_member(Json::object(), "a").is_null());
  EXPECT_TRUE(json_member(Json("text"), "a").is_null());
}

TEST(Json, TextOfAnyKindIsReadToABoundedDepth) {
  EXPECT_EQ(*read_json("[1, null]"), Json({1, nullptr}));
  EXPECT_EQ(*read_json(" true "), Json(true));
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(read_json(nested(max_json_depth)));
  EXPECT_FALSE(read_json(nested(300'000)));
  EXPECT_EQ(read_json(nested(3), 2).error().what,
            "a part of a message nests more than 2 levels deep");
  for (const std::string_view bad : {"", "[", "1 2", "nul", "\"\xff\""})
    EXPECT_FALSE(read_json(bad)) << bad;
}

}  // namespace
}  // namespace px
