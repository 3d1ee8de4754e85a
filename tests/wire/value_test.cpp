#include <gtest/gtest.h>

#include "wire/value.hpp"

namespace px {
namespace {

TEST(Value, LargeThingsLieInTheBuffersOfTheMessage) {
  std::vector<SharedBytes> buffers;
  EXPECT_EQ(describe(Json{{"a", 1}}, buffers), Json({{"json", {{"a", 1}}}}));
  EXPECT_EQ(describe(AnyArray::adopt(std::vector<double>{1, 2}), buffers),
            Json::parse(R"({"array": {"dtype": "<f8", "shape": [2], "buffer": 0}})"));
  EXPECT_EQ(describe(owned_bytes("abc"), buffers), Json({{"bytes", 1}}));
  EXPECT_EQ(describe(Pickle{owned_bytes("p"), {owned_bytes("q")}}, buffers),
            Json::parse(R"({"pickle": [2, 3]})"));
  EXPECT_EQ(describe(Reference{"x"}, buffers), Json({{"reference", "x"}}));
  ASSERT_EQ(buffers.size(), 4u);
  EXPECT_EQ(buffers[3].bytes, "q");
}

TEST(Value, ComesBackAsItWas) {
  std::vector<SharedBytes> buffers;
  const Json array = describe(AnyArray::adopt(std::vector<int>{1, 2, 3, 4}, {2, 2}), buffers);
  const Json pickle = describe(Pickle{owned_bytes("p"), {owned_bytes("q")}}, buffers);
  const auto read_array = read_value(array, buffers);
  ASSERT_TRUE(read_array);
  EXPECT_EQ((*std::get<AnyArray>(*read_array).as<int>())[3], 4);
  const auto read_pickle = read_value(pickle, buffers);
  ASSERT_TRUE(read_pickle);
  EXPECT_EQ(std::get<Pickle>(*read_pickle).buffers.at(0).bytes, "q");
}

TEST(Value, WhatIsMalformedIsNamed) {
  const std::vector<SharedBytes> buffers{owned_bytes("12345678")};
  const auto problem = [&](const char* text) {
    const auto value = read_value(Json::parse(text), buffers);
    return value ? std::string("none") : value.error().what;
  };
  EXPECT_EQ(problem(R"({"array": {"dtype": "<f8", "shape": [1], "buffer": 0}})"), "none");
  EXPECT_EQ(problem(R"({"bytes": 1})"), "a value refers to buffer 1, but the message has 1");
  EXPECT_EQ(problem(R"({"bytes": -1})"), "a value refers to buffer -1, but the message has 1");
  EXPECT_NE(problem(R"({"array": {"dtype": "<f8", "shape": [2], "buffer": 0}})"), "none");
  EXPECT_NE(problem(R"({"array": {"dtype": "<f8", "shape": ["1"], "buffer": 0}})"), "none");
  EXPECT_NE(problem(R"({"array": {"shape": [1], "buffer": 0}})"), "none");
  EXPECT_NE(problem(R"({"array": 3})"), "none");
  EXPECT_NE(problem(R"({"pickle": []})"), "none");
  EXPECT_NE(problem(R"({"nothing": 1})"), "none");
  EXPECT_NE(problem(R"({"json": 1, "bytes": 0})"), "none");
  EXPECT_NE(problem("[]"), "none");
}

}  // namespace
}  // namespace px
