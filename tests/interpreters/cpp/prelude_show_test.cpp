#include "interpreters/cpp/prelude/px_cell.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <bitset>
#include <complex>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <iostream>
#include <list>
#include <map>
#include <set>
#include <unordered_map>

#include "interpreters/cpp/values/cell_exchange.hpp"

using namespace std::chrono_literals;
using namespace std::string_literals;

namespace mine {

struct Plain {
  Plain() = default;
  explicit Plain(int value) : x(value) {}
  int x = 1;
};
struct Streamed {
  int x = 7;
};
std::ostream& operator<<(std::ostream& stream, const Streamed& value) {
  return stream << "Streamed " << value.x;
}
struct Rich {};
std::map<std::string, std::string> mime_bundle_repr(const Rich&) {
  return {{"text/html", "<b>rich</b>"}, {"text/plain", "rich"}};
}
struct RichAndStreamed {};
std::ostream& operator<<(std::ostream& stream, const RichAndStreamed&) {
  return stream << "streamed";
}
std::vector<std::pair<std::string, std::string>> mime_bundle_repr(const RichAndStreamed&) {
  return {{"text/plain", "rich first"}};
}
enum class Colour { red, green };
enum Old { one = 1 };
/// Turns into a number, so that << would take it for one.
struct Convertible {
  operator int() const { return 3; }
};
struct MoveOnly {
  MoveOnly() = default;
  MoveOnly(MoveOnly&&) = default;
};
struct Container {
  std::vector<int> held{1, 2};
  auto begin() const { return held.begin(); }
  auto end() const { return held.end(); }
};
/// As a view that remembers where it is.
struct Changing {
  int from = 0;
  int* begin() { return values; }
  int* end() { return values + 2; }
  int values[2] = {4, 5};
};
struct Throwing {};
std::ostream& operator<<(std::ostream&, const Throwing&) {
  throw std::runtime_error("no text for this");
}
int function(double) {
  return 1;
}
union Either {
  int a;
  float b;
};

}  // namespace mine

namespace {

class Shown : public testing::Test {
 protected:
  Shown() {
    exchange_.install();
    exchange_.on_display(
        [this](const px::cpp::MimeBundle& bundle) { displayed_.push_back(bundle); });
  }
  /// What a cell whose last expression is `value` shows as text.
  template <class T>
  std::string text(T&& value) {
    ::px::cell::Shower{}, (std::forward<T>(value));
    return plain();
  }
  std::string plain() {
    const auto shown = exchange_.take_shown();
    return shown ? shown->at("text/plain") : "nothing";
  }
  px::cpp::CellExchange exchange_;
  std::vector<px::cpp::MimeBundle> displayed_;
};

TEST_F(Shown, NumbersLookAsInSource) {
  EXPECT_EQ(text(3), "3");
  EXPECT_EQ(text(-3L), "-3");
  EXPECT_EQ(text(18446744073709551615ull), "18446744073709551615");
  EXPECT_EQ(text(static_cast<signed char>(65)), "65");
  EXPECT_EQ(text(std::uint8_t{200}), "200");
  EXPECT_EQ(text(3.0), "3.0");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(0.1f), "0.1");
  EXPECT_EQ(text(0.1L), "0.1");
  EXPECT_EQ(text(1e100), "1e+100");
  EXPECT_EQ(text(-0.0), "-0.0");
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(text(true), "true");
  EXPECT_EQ(text(std::complex<double>(1, -2)), "(1.0, -2.0)");
  volatile int moving = 4;
  EXPECT_EQ(text(moving), "4");
  EXPECT_EQ(text(std::atomic<int>(5)), "5");
}

TEST_F(Shown, TextIsQuoted) {
  EXPECT_EQ(text("abc"), "\"abc\"");
  EXPECT_EQ(text("a\n\"b\"\\"s), "\"a\\n\\\"b\\\"\\\\\"");
  EXPECT_EQ(text(std::string_view("abc")), "\"abc\"");
  EXPECT_EQ(text("\xC3\xA4"s), "\"\xC3\xA4\"");
  EXPECT_EQ(text('a'), "'a'");
  EXPECT_EQ(text('\n'), "'\\n'");
  EXPECT_EQ(text('\''), "'\\''");
  EXPECT_EQ(text(U'\u00e4'), "'\xC3\xA4'");
  EXPECT_EQ(text(L"ab"s.substr(0)), "\"ab\"");
  const char* none = nullptr;
  EXPECT_EQ(text(none), "nullptr");
  char buffer[8] = "ab";
  EXPECT_EQ(text(buffer), "\"ab\"");
  EXPECT_EQ(text(std::filesystem::path("/tmp/a")), "\"/tmp/a\"");
  EXPECT_EQ(text(std::string(20000, 'x')).size(), 10000 + 2 + "... (20000 bytes)"s.size());
}

TEST_F(Shown, TextOfEachEncodingIsText) {
  const std::string expected = "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\\n\"";
  EXPECT_EQ(text(u8"\u00e4\u20ac\U0001f600\n"), expected);
  EXPECT_EQ(text(u"\u00e4\u20ac\U0001f600\n"), expected);
  EXPECT_EQ(text(U"\u00e4\u20ac\U0001f600\n"), expected);
  EXPECT_EQ(text(L"\u00e4\u20ac\U0001f600\n"), expected);
  EXPECT_EQ(text(std::u8string(u8"\u00e4\u20ac\U0001f600\n")), expected);
  EXPECT_EQ(text(std::u16string(u"\u00e4\u20ac\U0001f600\n")), expected);
  EXPECT_EQ(text(std::u32string_view(U"\u00e4\u20ac\U0001f600\n")), expected);
  const wchar_t* wide = L"\u00e4";
  EXPECT_EQ(text(wide), "\"\xC3\xA4\"");
  wide = nullptr;
  EXPECT_EQ(text(wide), "nullptr");
  EXPECT_EQ(text(std::vector<std::u16string>{u"a", u"b"}), "{\"a\", \"b\"}");
  EXPECT_EQ(text(std::u16string(1, char16_t{0xD83D}) + u"x"), "\"\xEF\xBF\xBDx\"");
  EXPECT_EQ(text(std::u32string(1, char32_t{0x110000})), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(text(std::wstring(20000, L'x')).size(), 10000 + 2 + "... (20000 characters)"s.size());
}

TEST_F(Shown, APartOfACharacterIsItsNumber) {
  EXPECT_EQ(text('\xC3'), "'\\xC3'");
  EXPECT_EQ(text(u8"\u00e4"[0]), "'\\xC3'");
  EXPECT_EQ(text(u"\U0001f600"[0]), "'\\xD83D'");
  EXPECT_EQ(text(u'\u00e4'), "'\xC3\xA4'");
}

TEST_F(Shown, IntegersOf128BitsAreNumbers) {
  __extension__ using Wide = __int128;
  __extension__ using UnsignedWide = unsigned __int128;
  EXPECT_EQ(text(Wide{0}), "0");
  EXPECT_EQ(text(Wide{-1}), "-1");
  EXPECT_EQ(text(static_cast<Wide>(UnsignedWide{1} << 127)),
            "-170141183460469231731687303715884105728");
  EXPECT_EQ(text(~UnsignedWide{0}), "340282366920938463463374607431768211455");
  EXPECT_EQ(text(std::vector<Wide>{1, -2}), "{1, -2}");
  EXPECT_EQ(text(std::pair<Wide, int>(3, 4)), "{3, 4}");
}

TEST_F(Shown, ContainersAreListsInBraces) {
  EXPECT_EQ(text(std::vector<int>{1, 2, 3}), "{1, 2, 3}");
  EXPECT_EQ(text(std::vector<double>{}), "{}");
  EXPECT_EQ(text(std::vector<bool>{true, false}), "{true, false}");
  EXPECT_EQ(text(std::vector<std::string>{"a", "b"}), "{\"a\", \"b\"}");
  EXPECT_EQ(text(std::vector<std::vector<int>>{{1}, {2, 3}}), "{{1}, {2, 3}}");
  EXPECT_EQ(text(std::vector<char>{'a', 'b'}), "{'a', 'b'}");
  EXPECT_EQ(text(std::array<float, 2>{1, 2}), "{1.0, 2.0}");
  EXPECT_EQ(text(std::deque<int>{1, 2}), "{1, 2}");
  EXPECT_EQ(text(std::list<double>{1, 2}), "{1.0, 2.0}");
  EXPECT_EQ(text(std::forward_list<int>{1, 2}), "{1, 2}");
  EXPECT_EQ(text(std::set<int>{2, 1}), "{1, 2}");
  EXPECT_EQ(text(std::map<std::string, int>{{"a", 1}, {"b", 2}}), "{\"a\": 1, \"b\": 2}");
  EXPECT_EQ(text(std::unordered_map<int, std::vector<int>>{{1, {2}}}), "{1: {2}}");
  EXPECT_EQ(text(std::pair<int, std::string>(1, "a")), "{1, \"a\"}");
  EXPECT_EQ(text(std::tuple<int, double, char>(1, 2, 'c')), "{1, 2.0, 'c'}");
  EXPECT_EQ(text(std::tuple<>()), "{}");
  EXPECT_EQ(text(std::optional<int>(3)), "3");
  EXPECT_EQ(text(std::optional<int>()), "nullopt");
  EXPECT_EQ(text(std::variant<int, std::string>("a")), "\"a\"");
  EXPECT_EQ(text(std::vector<px::scalar>{1L, 2.5, "a"s, std::monostate()}),
            "{1, 2.5, \"a\", monostate}");
  int rows[2][2] = {{1, 2}, {3, 4}};
  EXPECT_EQ(text(rows), "{{1, 2}, {3, 4}}");
  int one[3] = {1, 2, 3};
  EXPECT_EQ(text(one), "{1, 2, 3}");
  EXPECT_EQ(text(std::span<int>(one, 2)), "{1, 2}");
  EXPECT_EQ(text(std::vector<std::complex<float>>{{1, 2}}), "{(1.0, 2.0)}");
  EXPECT_EQ(text(mine::Container()), "{1, 2}");
  EXPECT_EQ(text(mine::Changing()), "{4, 5}");
  EXPECT_EQ(text(std::bitset<4>(5)), "0101");
  int x = 3;
  EXPECT_EQ(text(std::ref(x)), "3");
}

TEST_F(Shown, LongContainersAreCutAndSaySo) {
  const std::string ints = text(std::vector<int>(1000, 1));
  EXPECT_EQ(ints.substr(ints.size() - 24), "1, 1, ... (1000 values)}");
  EXPECT_EQ(std::count(ints.begin(), ints.end(), '1'), 101);
  const std::string texts = text(std::vector<std::string>(1000, "x"));
  EXPECT_EQ(texts.substr(texts.size() - 23), "\"x\", ... (1000 values)}");
  const std::string endless = text(std::forward_list<int>(1000, 1));
  EXPECT_EQ(endless.substr(endless.size() - 9), "1, 1, ...}"s.substr(1));
  EXPECT_LT(text(std::vector<std::vector<double>>(1000, std::vector<double>(1000))).size(), 10000u);
}

TEST_F(Shown, ArraysHaveALineForEachRow) {
  px::array<double, 2> grid(2, 3);
  grid(1, 2) = 5;
  EXPECT_EQ(text(grid), "{{0.0, 0.0, 0.0},\n {0.0, 0.0, 5.0}}");
  EXPECT_EQ(text(grid.transposed()), "{{0.0, 0.0},\n {0.0, 0.0},\n {0.0, 5.0}}");
  EXPECT_EQ(text(grid[1]), "{0.0, 0.0, 5.0}");
  EXPECT_EQ(text(px::array<int, 1>{1, 2}), "{1, 2}");
  EXPECT_EQ(text(px::array<int, 3>(1, 1, 2)), "{{{0, 0}}}");
  EXPECT_EQ(text(px::array<std::string, 1>(2)), "{\"\", \"\"}");
}

TEST_F(Shown, TimesHaveTheirUnit) {
  EXPECT_EQ(text(10ms), "10ms");
  EXPECT_EQ(text(2h), "2h");
  EXPECT_EQ(text(std::chrono::duration<double>(1.5)), "1.5s");
  EXPECT_EQ(text(std::chrono::duration<int, std::ratio<1, 30>>(3)), "3[1/30]s");
  EXPECT_EQ(text(std::chrono::system_clock::time_point(1500ms)), "1970-01-01 00:00:01.5 UTC");
}

TEST_F(Shown, PointersAreAddresses) {
  int x = 1;
  EXPECT_EQ(text(&x).substr(0, 2), "0x");
  EXPECT_EQ(text(nullptr), "nullptr");
  EXPECT_EQ(text(static_cast<int*>(nullptr)), "nullptr");
  EXPECT_EQ(text(std::make_unique<int>(3)).substr(0, 2), "0x");
  EXPECT_EQ(text(std::shared_ptr<int>()), "nullptr");
  EXPECT_EQ(text(&mine::function).substr(0, 4), "<int");
}

TEST_F(Shown, TypesOfTheUserSayThemselvesWhatTheyLookLike) {
  EXPECT_EQ(text(mine::Streamed()), "Streamed 7");
  EXPECT_EQ(text(mine::RichAndStreamed()), "rich first");
  EXPECT_EQ(text(std::vector<mine::Streamed>(2)), "{Streamed 7, Streamed 7}");
  (::px::cell::Shower{}, (mine::Rich()));
  EXPECT_EQ(exchange_.take_shown(),
            (px::cpp::MimeBundle{{"text/html", "<b>rich</b>"}, {"text/plain", "rich"}}));
}

TEST_F(Shown, OtherTypesAreNamed) {
  EXPECT_EQ(text(mine::Plain()), "<mine::Plain>");
  EXPECT_EQ(text(mine::Convertible()), "<mine::Convertible>");
  EXPECT_EQ(text(mine::MoveOnly()), "<mine::MoveOnly>");
  EXPECT_EQ(text(mine::Either{1}), "<mine::Either>");
  EXPECT_EQ(text(mine::Colour::green), "mine::Colour(1)");
  EXPECT_EQ(text(mine::one), "mine::Old(1)");
  EXPECT_EQ(text([](int x) { return x; }).front(), '<');
  EXPECT_EQ(text(std::function<int(int)>()).front(), '<');
  EXPECT_EQ(text(std::runtime_error("why")), "std::runtime_error(\"why\")");
}

TEST_F(Shown, NothingIsShownOfStreamsAndOfVoid) {
  (::px::cell::Shower{}, (std::cout << ""));
  EXPECT_EQ(plain(), "nothing");
  (::px::cell::Shower{}, (exchange_.take_shown(), void()));
  EXPECT_EQ(plain(), "nothing");
}

TEST_F(Shown, NothingIsShownWhereTheTypesOwnTextThrows) {
  EXPECT_THROW(text(mine::Throwing()), std::runtime_error);
  EXPECT_EQ(plain(), "nothing");
}

TEST_F(Shown, DisplayShowsAtOnce) {
  px::display(std::vector<int>{1});
  px::display(px::html("<i>x</i>"));
  px::display(px::image{"\x89PNG!", "image/png"});
  ASSERT_EQ(displayed_.size(), 3u);
  EXPECT_EQ(displayed_[0].at("text/plain"), "{1}");
  EXPECT_EQ(displayed_[1].at("text/html"), "<i>x</i>");
  EXPECT_EQ(displayed_[2].at("image/png"), "iVBORyE=");
  EXPECT_EQ(plain(), "nothing");
}

TEST_F(Shown, DisplayUnderANameReplacesWhatWasShownUnderIt) {
  std::vector<std::pair<std::string, bool>> names;
  exchange_.on_named_display(
      [&](const px::cpp::MimeBundle& bundle, const px::cpp::CellExchange::DisplayName& name) {
        names.emplace_back(bundle.at("text/plain") + " as " + name.id, name.is_update);
      });
  px::display(1, "count");
  px::display(2, "count", true);
  EXPECT_EQ(names, (std::vector<std::pair<std::string, bool>>{{"1 as count", false},
                                                              {"2 as count", true}}));
}

TEST_F(Shown, TimeitRunsTheBodyAsOftenAsAsked) {
  int runs = 0;
  testing::internal::CaptureStdout();
  px::cell::timeit(10, 3, [&] { ::px::cell::Keeper{}, (++runs); });
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_EQ(runs, 30);
  EXPECT_NE(said.find("per loop (mean +- standard deviation of 3 runs, 10 loops each)\n"),
            said.npos);
}

TEST_F(Shown, TimeSaysHowLongItTook) {
  testing::internal::CaptureStdout();
  px::cell::begin_timing();
  px::cell::end_timing();
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_EQ(said.substr(0, 10), "CPU time: ");
  EXPECT_NE(said.find(", wall time: "), said.npos);
}

}  // namespace
