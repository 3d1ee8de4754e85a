#include "interpreters/cpp/values/natural_type.hpp"

#include <gtest/gtest.h>

namespace px::cpp {
namespace {

std::string type_of(const Value& value) {
  const auto type = natural_type(value);
  return type ? *type : "error: " + type.error().what;
}
std::string item_type_of(const Value& value) {
  const auto type = natural_item_type(value);
  return type ? *type : "error: " + type.error().what;
}
std::string of_json(const char* text) {
  return type_of(Json::parse(text));
}
AnyArray array_of(std::string dtype, std::vector<std::int64_t> shape) {
  return {std::move(dtype), std::move(shape), {}};
}

TEST(NaturalType, OfScalarsIsThatOfTheLanguage) {
  EXPECT_EQ(of_json("3"), "long");
  EXPECT_EQ(of_json("18446744073709551615"), "unsigned long");
  EXPECT_EQ(of_json("3.5"), "double");
  EXPECT_EQ(of_json("true"), "bool");
  EXPECT_EQ(of_json("\"a\""), "std::string");
  EXPECT_EQ(of_json("null"), "std::nullptr_t");
}

TEST(NaturalType, OfListsAndMapsHasOneTypeForAllItems) {
  EXPECT_EQ(of_json("[1, 2]"), "std::vector<long>");
  EXPECT_EQ(of_json("[1, 2.5]"), "std::vector<double>");
  EXPECT_EQ(of_json("[]"), "std::vector<double>");
  EXPECT_EQ(of_json("[[], [1]]"), "std::vector<std::vector<long>>");
  EXPECT_EQ(of_json("[\"a\"]"), "std::vector<std::string>");
  EXPECT_EQ(of_json("{\"a\": 1}"), "std::map<std::string, long>");
  EXPECT_EQ(of_json("{\"a\": [1.5]}"), "std::map<std::string, std::vector<double>>");
  EXPECT_EQ(of_json("[1, \"a\", null]"), "std::vector<px::scalar>");
  EXPECT_EQ(of_json("{\"n\": 10, \"name\": \"x\"}"), "std::map<std::string, px::scalar>");
  EXPECT_EQ(of_json("[1, [2]]"),
            "error: a list or map whose items have different types has no C++ type");
}

TEST(NaturalType, OfArraysHasTheirElementsAndRank) {
  EXPECT_EQ(type_of(array_of("<f8", {2, 3})), "px::array<double, 2>");
  EXPECT_EQ(type_of(array_of("|b1", {2})), "px::array<bool, 1>");
  EXPECT_EQ(type_of(array_of("<c16", {})), "std::complex<double>");
  EXPECT_EQ(type_of(array_of("<M8[ns]", {2})), "error: an array of <M8[ns] has no C++ type");
  EXPECT_EQ(type_of(owned_bytes("ab")), "std::vector<std::byte>");
  EXPECT_EQ(type_of(Pickle{}), "error: a pickled Python object has no C++ type");
}

TEST(NaturalItemType, IsThatOfRowsAndItems) {
  EXPECT_EQ(item_type_of(array_of("<f8", {2, 3})), "px::array<double, 1>");
  EXPECT_EQ(item_type_of(array_of("<i4", {2})), "int");
  EXPECT_EQ(item_type_of(Json{1, 2}), "long");
  EXPECT_EQ(item_type_of(Json(1)), "error: each argument of a map must be a list or an array");
}

}  // namespace
}  // namespace px::cpp
