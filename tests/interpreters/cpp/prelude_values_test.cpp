#include "interpreters/cpp/prelude/px_cell.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <list>
#include <map>
#include <set>
#include <unordered_map>

#include "interpreters/cpp/values/cell_exchange.hpp"
#include "interpreters/cpp/values/cell_type_error.hpp"

using namespace std::string_literals;
using px::AnyArray;
using px::Json;

namespace {

enum class Colour : int { red, green };
struct Opaque {};

/// As Eigen's matrices look from outside.
struct Matrix {
  using Scalar = double;
  static constexpr int RowsAtCompileTime = -1;
  void resize(std::ptrdiff_t rows, std::ptrdiff_t columns) {
    rows_ = rows;
    columns_ = columns;
    held_.resize(static_cast<std::size_t>(rows * columns));
  }
  std::ptrdiff_t rows() const { return rows_; }
  std::ptrdiff_t cols() const { return columns_; }
  double& operator()(std::ptrdiff_t i, std::ptrdiff_t j) {
    return held_[static_cast<std::size_t>(j * rows_ + i)];
  }
  double operator()(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return held_[static_cast<std::size_t>(j * rows_ + i)];
  }
  std::ptrdiff_t rows_ = 0, columns_ = 0;
  std::vector<double> held_;
};

class CellValues : public testing::Test {
 protected:
  CellValues() { exchange_.install(); }

  void send(px::Value value) { exchange_.put_arguments({{"x", std::move(value)}}); }
  template <class T>
  T received(px::Value value) {
    send(std::move(value));
    return px::cell::take<T>(0);
  }
  template <class T>
  std::string refused(px::Value value) {
    try {
      (void)received<T>(std::move(value));
    } catch (const px::cpp::CellTypeError& error) {
      return error.what();
    }
    return "it was taken";
  }
  template <class T>
  px::Value given(T&& value) {
    (px::cell::Giver{0}, (std::forward<T>(value)));
    return exchange_.take_answer(0).value_or(Json("nothing"));
  }
  template <class T>
  Json json(T&& value) {
    const px::Value sent = given(std::forward<T>(value));
    return std::holds_alternative<Json>(sent) ? std::get<Json>(sent) : Json("not JSON");
  }
  template <class T>
  AnyArray array(T&& value) {
    const px::Value sent = given(std::forward<T>(value));
    return std::holds_alternative<AnyArray>(sent) ? std::get<AnyArray>(sent)
                                                  : AnyArray{"not an array", {}, {}};
  }
  template <class T>
  static AnyArray array_of(std::vector<T> values, std::vector<std::int64_t> shape = {}) {
    return AnyArray::adopt(std::move(values), std::move(shape));
  }
  template <class T>
  static std::vector<T> elements(const AnyArray& array) {
    const auto all = array.as<T>();
    return all ? std::vector<T>(all->begin(), all->end()) : std::vector<T>();
  }
  px::cpp::CellExchange exchange_;
};

// ---------------------------------------------------------------- in

TEST_F(CellValues, NumbersBecomeTheTypesThatHoldThem) {
  EXPECT_EQ(received<int>(Json(3)), 3);
  EXPECT_EQ(received<double>(Json(3)), 3.0);
  EXPECT_EQ(received<double>(Json(2.5)), 2.5);
  EXPECT_EQ(received<int>(Json(3.0)), 3);
  EXPECT_EQ(received<bool>(Json(true)), true);
  EXPECT_EQ(received<int>(Json(true)), 1);
  EXPECT_EQ(received<std::uint64_t>(Json(18446744073709551615ull)), 18446744073709551615ull);
  EXPECT_EQ(received<std::complex<double>>(Json(2)), 2.0);
  const double half = 2.5;
  EXPECT_EQ(received<double>(AnyArray::copy_of<double>({&half, 1}, {})), 2.5);
  EXPECT_EQ(received<Colour>(Json(1)), Colour::green);
}

TEST_F(CellValues, NumbersThatWouldChangeAreRefused) {
  EXPECT_EQ(refused<int>(Json(2.5)), "x: the number 2.5 cannot be converted to int");
  EXPECT_NE(refused<int>(Json(5000000000)), "it was taken");
  EXPECT_NE(refused<unsigned>(Json(-1)), "it was taken");
  EXPECT_NE(refused<std::int8_t>(Json(128)), "it was taken");
  EXPECT_NE(refused<bool>(Json(1)), "it was taken");
  EXPECT_NE(refused<double>(Json("3")), "it was taken");
  EXPECT_NE(refused<double>(Json()), "it was taken");
  EXPECT_NE(refused<int>(Json(1e300)), "it was taken");
  EXPECT_NE(refused<std::int64_t>(Json(9223372036854775808.0)), "it was taken");
}

TEST_F(CellValues, TextAndContainersComeAsTheyAre) {
  EXPECT_EQ(received<std::string>(Json("abc")), "abc");
  EXPECT_EQ(received<std::vector<std::string>>(Json{"a", "b"}), (std::vector{"a"s, "b"s}));
  EXPECT_EQ((received<std::map<std::string, int>>(Json{{"a", 1}, {"b", 2}})),
            (std::map<std::string, int>{{"a", 1}, {"b", 2}}));
  EXPECT_EQ((received<std::unordered_map<std::string, std::vector<double>>>(Json{{"a", {1, 2}}})),
            (std::unordered_map<std::string, std::vector<double>>{{"a", {1, 2}}}));
  EXPECT_EQ((received<std::pair<int, std::string>>(Json{1, "a"})),
            (std::pair<int, std::string>(1, "a")));
  EXPECT_EQ((received<std::tuple<int, double>>(Json{1, 2.5})), (std::tuple<int, double>(1, 2.5)));
  EXPECT_EQ(received<std::optional<int>>(Json()), std::nullopt);
  EXPECT_EQ(received<std::optional<int>>(Json(3)), 3);
  EXPECT_EQ((received<std::array<int, 2>>(Json{1, 2})), (std::array<int, 2>{1, 2}));
  EXPECT_EQ(received<std::set<int>>(Json{2, 1, 2}), (std::set<int>{1, 2}));
  EXPECT_EQ(received<std::list<int>>(Json{2, 1}), (std::list<int>{2, 1}));
  EXPECT_EQ(received<std::vector<bool>>(Json{true, false}), (std::vector<bool>{true, false}));
  EXPECT_EQ(received<std::vector<px::scalar>>(Json{1, 2.5, "a", true, nullptr}),
            (std::vector<px::scalar>{1L, 2.5, "a"s, true, std::monostate()}));
  EXPECT_EQ((received<std::variant<int, std::vector<int>>>(Json{1, 2})),
            (std::variant<int, std::vector<int>>(std::vector<int>{1, 2})));
  EXPECT_EQ(received<std::vector<std::byte>>(px::owned_bytes("ab")),
            (std::vector{std::byte{'a'}, std::byte{'b'}}));
}

TEST_F(CellValues, WhatDoesNotFitIsRefusedInAClearSentence) {
  EXPECT_EQ(refused<std::vector<int>>(Json("abc")),
            "x: a text cannot be converted to std::vector<int>");
  EXPECT_EQ(refused<std::vector<int>>(array_of<double>({1.5, 2})).substr(0, 44),
            "x: an array of <f8 with the shape (2) cannot");
  EXPECT_NE((refused<std::array<int, 3>>(Json{1, 2})), "it was taken");
  EXPECT_NE((refused<std::pair<int, int>>(Json{1})), "it was taken");
  EXPECT_NE((refused<std::map<std::string, int>>(Json{{"a", "b"}})), "it was taken");
  EXPECT_NE((refused<std::map<std::string, int>>(Json{1})), "it was taken");
  EXPECT_NE((refused<px::array<double, 2>>(array_of<double>({1, 2}))), "it was taken");
  EXPECT_NE((refused<std::vector<double>>(array_of<double>({1, 2}, {1, 2}))), "it was taken");
  EXPECT_EQ(refused<Opaque>(Json(1)).substr(0, 38), "no received value can be converted to ");
}

TEST_F(CellValues, AnArrayIsTheMemoryThatCame) {
  const AnyArray sent = array_of<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto x = received<px::array<double, 2>>(sent);
  EXPECT_EQ(static_cast<const void*>(x.data()), sent.data.bytes.data());
  EXPECT_EQ(x(1, 2), 6);
  exchange_.drop_arguments();
  EXPECT_EQ(x(0, 1), 2);
}

TEST_F(CellValues, AnArrayKeepsItsMemoryAlive) {
  px::array<double, 1> x;
  {
    send(array_of<double>({1, 2}));
    x = px::cell::take<px::array<double, 1>>(0);
    exchange_.drop_arguments();
  }
  x(0) = 5;
  EXPECT_EQ(x(0) + x(1), 7);
}

TEST_F(CellValues, TwoArraysOfOneBufferDoNotShareIt) {
  const AnyArray sent = array_of<double>({1, 2});
  exchange_.put_arguments({{"x", sent}, {"y", sent}});
  const auto x = px::cell::take<px::array<double, 1>>(0);
  const auto y = px::cell::take<px::array<double, 1>>(1);
  x(0) = 9;
  EXPECT_EQ(y(0), 1);
}

TEST_F(CellValues, AnArrayFromABadAddressIsAligned) {
  const auto owner = std::make_shared<std::string>("x" + std::string(16, '\0'));
  const AnyArray sent{"<f8", {2}, {std::string_view(*owner).substr(1), owner}};
  const auto x = received<px::array<double, 1>>(sent);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % alignof(double), 0u);
}

TEST_F(CellValues, ArraysBecomeOtherElementTypesWhereTheNumbersStay) {
  EXPECT_EQ((received<px::array<double, 1>>(array_of<std::int32_t>({1, 2}))(1)), 2.0);
  EXPECT_EQ((received<px::array<float, 1>>(array_of<double>({0.5}))(0)), 0.5f);
  EXPECT_EQ((received<px::array<int, 1>>(array_of<std::int64_t>({1, 2}))(1)), 2);
  EXPECT_NE((refused<px::array<int, 1>>(array_of<std::int64_t>({5000000000}))), "it was taken");
  EXPECT_NE((refused<px::array<int, 1>>(array_of<double>({1.5}))), "it was taken");
  EXPECT_EQ((received<px::array<std::complex<double>, 1>>(array_of<float>({1}))(0)), 1.0);
  EXPECT_NE((refused<px::array<double, 1>>(array_of<std::complex<double>>({{1, 1}}))),
            "it was taken");
}

TEST_F(CellValues, ListsOfNumbersBecomeArrays) {
  EXPECT_EQ((received<px::array<double, 2>>(Json{{1, 2}, {3, 4.5}})(1, 1)), 4.5);
  EXPECT_EQ((received<px::array<long, 1>>(Json{1, 2})(1)), 2);
  EXPECT_NE((refused<px::array<double, 2>>(Json{{1, 2}, {3}})), "it was taken");
  EXPECT_NE((refused<px::array<double, 2>>(Json::parse("[[1], 2]"))), "it was taken");
  EXPECT_NE((refused<px::array<double, 1>>(Json{1, "a"})), "it was taken");
}

TEST_F(CellValues, ArraysBecomeVectors) {
  EXPECT_EQ(received<std::vector<double>>(array_of<double>({1, 2})), (std::vector<double>{1, 2}));
  EXPECT_EQ(received<std::vector<double>>(array_of<int>({1, 2})), (std::vector<double>{1, 2}));
  EXPECT_EQ(received<std::vector<std::vector<int>>>(array_of<int>({1, 2, 3, 4}, {2, 2})),
            (std::vector<std::vector<int>>{{1, 2}, {3, 4}}));
  EXPECT_EQ(received<std::deque<double>>(array_of<double>({1, 2})), (std::deque<double>{1, 2}));
  EXPECT_EQ(received<Matrix>(array_of<double>({1, 2, 3, 4}, {2, 2}))(1, 0), 3);
}

TEST_F(CellValues, VariablesKeepTheirTypes) {
  std::vector<float> floats;
  send(array_of<double>({1, 2}));
  px::cell::assign(floats, 0);
  EXPECT_EQ(floats, (std::vector<float>{1, 2}));
}

TEST_F(CellValues, ArraysOfCAndSpansKeepTheirMemory) {
  double plain[2][2] = {};
  send(array_of<double>({1, 2, 3, 4}, {2, 2}));
  double memory[2] = {};
  std::span<double> view(memory);
  EXPECT_THROW(px::cell::assign(view, 0), px::cpp::CellTypeError);
  send(array_of<double>({5, 6}));
  px::cell::assign(view, 0);
  EXPECT_EQ(memory[1], 6);
  px::cell::assign(plain[1], 0);
  EXPECT_EQ(plain[1][0], 5);
  const double fixed = 3;
  EXPECT_THROW(px::cell::assign(fixed, 0), px::cpp::CellTypeError);
}

// ---------------------------------------------------------------- out

TEST_F(CellValues, ScalarsAndTextAreJson) {
  EXPECT_EQ(json(3), 3);
  EXPECT_EQ(json(2.5), 2.5);
  EXPECT_EQ(json(true), true);
  EXPECT_EQ(json("abc"), "abc");
  EXPECT_EQ(json("abc"s), "abc");
  EXPECT_EQ(json(nullptr), nullptr);
  EXPECT_EQ(json(Colour::green), 1);
  EXPECT_EQ(json(std::optional<int>()), nullptr);
  EXPECT_EQ(json(px::scalar("a")), "a");
  EXPECT_EQ(json(std::vector<std::string>{"a", "b"}), (Json{"a", "b"}));
  EXPECT_EQ(json(std::map<std::string, int>{{"a", 1}}), (Json{{"a", 1}}));
  EXPECT_EQ(json(std::map<std::string, std::vector<int>>{{"a", {1, 2}}}), (Json{{"a", {1, 2}}}));
  EXPECT_EQ(json(std::tuple<int, std::string>(1, "a")), (Json{1, "a"}));
  EXPECT_EQ(json(std::vector<std::pair<std::string, double>>{{"a", 1.5}}),
            Json::parse("[[\"a\", 1.5]]"));
  EXPECT_EQ(json(std::vector<std::vector<int>>{{1}, {2, 3}}), Json::parse("[[1], [2, 3]]"));
  EXPECT_EQ(json(std::vector<std::string>()), Json::array());
}

TEST_F(CellValues, NumbersForWhichJsonHasNoWordAreArrays) {
  EXPECT_TRUE(std::isnan(elements<double>(array(std::numeric_limits<double>::quiet_NaN())).at(0)));
  EXPECT_EQ(array(std::complex<double>(1, 2)).dtype, "<c16");
  EXPECT_TRUE(array(std::complex<double>(1, 2)).shape.empty());
}

TEST_F(CellValues, ContainersOfNumbersAreArrays) {
  EXPECT_EQ(array(std::vector<double>{1, 2}).dtype, "<f8");
  EXPECT_EQ(elements<int>(array(std::array<int, 2>{1, 2})), (std::vector{1, 2}));
  EXPECT_EQ(elements<int>(array(std::list<int>{1, 2})), (std::vector{1, 2}));
  EXPECT_EQ(elements<int>(array(std::set<int>{2, 1})), (std::vector{1, 2}));
  EXPECT_EQ(array(std::vector<bool>{true, false}).dtype, "|b1");
  const float plain[3] = {1, 2, 3};
  EXPECT_EQ(elements<float>(array(plain)), (std::vector<float>{1, 2, 3}));
  const std::vector<std::vector<double>> rows{{1, 2}, {3, 4}};
  EXPECT_EQ(array(rows).shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(elements<double>(array(rows)), (std::vector<double>{1, 2, 3, 4}));
  int square[2][2] = {{1, 2}, {3, 4}};
  EXPECT_EQ(array(square).shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(array(std::vector<double>()).shape, (std::vector<std::int64_t>{0}));
  const px::Value bytes = given(std::vector<std::byte>{std::byte{'a'}});
  EXPECT_EQ(std::get<px::SharedBytes>(bytes).bytes, "a");
}

TEST_F(CellValues, ViewsThatAreNotInOrderAreCopiedInOrder) {
  px::array<int, 2> a{{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(elements<int>(array(a)), (std::vector{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(array(a.transposed()).shape, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(elements<int>(array(a.transposed())), (std::vector{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(elements<int>(array(a.slice(1, 0, 3, 2))), (std::vector{1, 3, 4, 6}));
  Matrix matrix;
  matrix.resize(1, 2);
  matrix(0, 1) = 7;
  EXPECT_EQ(elements<double>(array(matrix)), (std::vector<double>{0, 7}));
}

TEST_F(CellValues, AVectorThatNobodyElseHasIsNotCopied) {
  std::vector<double> values{1, 2};
  const void* const memory = values.data();
  EXPECT_EQ(static_cast<const void*>(array(std::move(values)).data.bytes.data()), memory);
  std::vector<double> kept{1, 2};
  EXPECT_NE(static_cast<const void*>(array(kept).data.bytes.data()), kept.data());
}

TEST_F(CellValues, OtherTypesAreRefusedByName) {
  EXPECT_THROW(given(Opaque()), px::cpp::CellTypeError);
  EXPECT_THROW(given(std::map<int, int>{{1, 2}}), px::cpp::CellTypeError);
  EXPECT_THROW(given(std::map<std::string, double>{{"a", std::nan("")}}), px::cpp::CellTypeError);
  try {
    given(Opaque());
  } catch (const px::cpp::CellTypeError& error) {
    EXPECT_NE(std::string(error.what()).find("Opaque cannot be sent"), std::string::npos);
  }
}

TEST_F(CellValues, AVoidExpressionGivesNothing) {
  (px::cell::Giver{0}, ((void)0));
  EXPECT_FALSE(exchange_.take_answer(0).has_value());
}

// ---------------------------------------------------------------- calls

int twice(int x) {
  return 2 * x;
}
std::string joined(const std::string& a, std::string_view b, const char* c) {
  return a + std::string(b) + c;
}
double total(std::span<const double> values) {
  double sum = 0;
  for (const double each : values) sum += each;
  return sum;
}
double first_of(const double* values, int count) {
  return count > 0 ? values[0] : -1;
}
void set_first(px::array<double, 1> values) {
  values(0) = 42;
}
std::size_t count_of(std::vector<std::string>&& texts) {
  return texts.size();
}

TEST_F(CellValues, FunctionsAreCalledWithTheTypesOfTheirParameters) {
  exchange_.put_arguments({{"a", Json(4.0)}});
  px::cell::call(1, twice);
  EXPECT_EQ(std::get<Json>(exchange_.take_answer(0).value()), 8);
}

TEST_F(CellValues, ParametersMayBeViews) {
  const auto answer = [&] { return std::get<Json>(exchange_.take_answer(0).value()); };
  exchange_.put_arguments({{"a", Json("x")}, {"b", Json("y")}, {"c", Json("z")}});
  px::cell::call(3, joined);
  EXPECT_EQ(answer(), "xyz");
  exchange_.put_arguments({{"a", Json{1, 2}}});
  px::cell::call(1, total);
  EXPECT_EQ(answer(), 3.0);
  exchange_.put_arguments({{"a", array_of<double>({5, 2}, {1, 2})}, {"b", Json(2)}});
  px::cell::call(2, first_of);
  EXPECT_EQ(answer(), 5.0);
  exchange_.put_arguments({{"a", Json{"x", "y"}}});
  px::cell::call(1, count_of);
  EXPECT_EQ(answer(), 2);
  exchange_.put_arguments({{"a", Json(3)}});
  px::cell::call(1, [](long x) { return x + 1; });
  EXPECT_EQ(answer(), 4);
  std::function<int()> nothing = [] { return 7; };
  px::cell::call(0, nothing);
  EXPECT_EQ(answer(), 7);
}

TEST_F(CellValues, AFunctionThatReturnsNothingGivesNothing) {
  const AnyArray sent = array_of<double>({1, 2});
  exchange_.put_arguments({{"a", sent}});
  px::cell::call(1, set_first);
  EXPECT_FALSE(exchange_.take_answer(0).has_value());
  EXPECT_EQ(elements<double>(sent)[0], 42);
}

TEST_F(CellValues, AWrongNumberOfArgumentsIsRefused) {
  exchange_.put_arguments({{"a", Json(1)}, {"b", Json(1)}});
  EXPECT_THROW(px::cell::call(2, twice), px::cpp::CellTypeError);
}

TEST_F(CellValues, AMapCallsForEachItem) {
  exchange_.put_arguments({{"a", array_of<int>({1, 2, 3})}});
  px::cell::map(1, twice);
  EXPECT_EQ(elements<int>(std::get<AnyArray>(exchange_.take_answer(0).value())),
            (std::vector{2, 4, 6}));
  exchange_.put_arguments({{"a", Json{"x", "yy"}}});
  px::cell::map(1, [](const std::string& text) { return text + "!"; });
  EXPECT_EQ(std::get<Json>(exchange_.take_answer(0).value()), (Json{"x!", "yy!"}));
  exchange_.put_arguments({{"a", array_of<double>({1, 2, 3, 4}, {2, 2})}});
  px::cell::map(1, total);
  EXPECT_EQ(elements<double>(std::get<AnyArray>(exchange_.take_answer(0).value())),
            (std::vector<double>{3, 7}));
  exchange_.put_arguments({{"a", Json{1, 2}}, {"b", Json{10, 20, 30}}});
  px::cell::map(2, [](int a, double b) { return std::vector<double>{a * 1.0, b}; });
  EXPECT_EQ(std::get<AnyArray>(exchange_.take_answer(0).value()).shape,
            (std::vector<std::int64_t>{2, 2}));
  exchange_.put_arguments({{"a", Json{1, 2}}});
  px::cell::map(1, [](int&) {});
  EXPECT_EQ(std::get<Json>(exchange_.take_answer(0).value()), (Json{nullptr, nullptr}));
  exchange_.put_arguments({{"a", Json(1)}});
  EXPECT_THROW(px::cell::map(1, twice), px::cpp::CellTypeError);
}

}  // namespace
