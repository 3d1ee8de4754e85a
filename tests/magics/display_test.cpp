#include "magics/display.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "magics/grouped_display.hpp"
#include "magics/label.hpp"

namespace px::magics {
namespace {

using namespace std::chrono_literals;

constexpr Instant begin{};

std::vector<EngineId> engines(std::size_t count) {
  std::vector<EngineId> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(EngineId{static_cast<int>(i)});
  return ids;
}

/// A display and a screen of text: displays are shown as <text/plain>.
class Show {
 public:
  explicit Show(std::size_t count, DisplayOptions options = {})
      : display_(with(options, count), begin) {}

  Show& at(Duration time) {
    now_ = begin + time;
    perform(display_.take(now_));
    return *this;
  }
  Show& on(const DisplayEvent& event) {
    display_.on(event, now_);
    return *this;
  }
  Show& print(std::size_t rank, const std::string& what) { return on(Printed{rank, false, what}); }
  Show& warn(std::size_t rank, const std::string& what) { return on(Printed{rank, true, what}); }
  Show& fail(std::size_t rank, const std::string& name, std::vector<std::string> traceback = {}) {
    return on(Failed{rank, {name, "why", std::move(traceback), std::nullopt, ""}});
  }
  Show& say_wait(std::string line) {
    display_.say_wait(std::move(line));
    return *this;
  }
  Show& interrupt() {
    display_.expect_failures();
    return *this;
  }
  const std::string& finish() {
    perform(display_.finish(now_));
    return text;
  }
  Instant next_deadline() const { return display_.next_deadline(); }

  std::string text, errors;  // errors: what was written to stderr, which is in `text` too
  ShowProgress progress;
  std::vector<ShowData> displays;
  int clears = 0;
  std::map<std::string, Json> screen;  // what displays with an id show now

 private:
  static DisplayOptions with(DisplayOptions options, std::size_t count) {
    if (options.engines.empty()) options.engines = engines(count);
    return options;
  }
  void perform(const std::vector<Action>& actions) {
    for (const Action& action : actions) std::visit([this](const auto& one) { put(one); }, action);
  }
  void put(const WriteText& write) {
    text += write.text;
    if (write.stream == "stderr") errors += write.text;
  }
  void put(const ShowData& data) {
    displays.push_back(data);
    if (!data.display_id.empty()) screen[data.display_id] = data.data;
    text += "<" + data.data.value("text/plain", "rich") + ">";
  }
  void put(const ClearOutput&) { ++clears; }
  void put(const ShowProgress& shown) { progress = shown; }

  Display display_;
  Instant now_ = begin;
};

// ---------------------------------------------------------------- lines

TEST(Display, OneLineStandsBehindItsLabel) {
  EXPECT_EQ(Show(4).print(2, "hello\n").finish(), "[stdout:2] hello\n");
}

TEST(Display, SeveralLinesStandBelowTheirLabel) {
  EXPECT_EQ(Show(4).print(0, "a\nb\n").finish(), "[stdout:0] \na\nb\n");
}

TEST(Display, LinesOfAllRanksAreFolded) {
  Show shown{8};
  for (std::size_t rank = 0; rank < 8; ++rank) shown.print(rank, "ready\n");
  EXPECT_EQ(shown.finish(), "[0-7] ready\n");
}

TEST(Display, LabelsNameTheRanksThatSaidIt) {
  Show shown{6};
  for (const std::size_t rank : {0, 2, 3, 4}) shown.print(rank, "x\n");
  EXPECT_EQ(shown.finish(), "[0,2-4] x\n");
}

TEST(Display, WhatFollowsWhatDiffersIsFoldedToo) {
  Show shown{2};
  shown.print(0, "rank 0\ndone\n").print(1, "rank 1\ndone\n");
  EXPECT_EQ(shown.finish(), "[stdout:0] rank 0\n[stdout:1] rank 1\n[0,1] done\n");
}

TEST(Display, StderrIsLabelledAndWrittenApart) {
  Show shown{2};
  shown.warn(0, "careful\n").warn(1, "careful\n").print(0, "fine\n");
  EXPECT_EQ(shown.finish(), "[stderr:0,1] careful\n[stdout:0] fine\n");
  EXPECT_EQ(shown.errors, "[stderr:0,1] careful\n");
}

TEST(Display, WithoutFoldingEachRankIsApart) {
  Show shown{2, {.engines = {}, .is_folding = false}};
  shown.print(0, "x\n").print(1, "x\n");
  EXPECT_EQ(shown.finish(), "[stdout:0] x\n[stdout:1] x\n");
}

TEST(Display, ALineWithoutAnEndGetsOneAtTheEnd) {
  EXPECT_EQ(Show(1).print(0, "x").finish(), "[stdout:0] x\n");
}

TEST(Display, EmptyLinesAreKept) {
  EXPECT_EQ(Show(1).print(0, "a\n\nb\n").finish(), "[stdout:0] \na\n\nb\n");
}

TEST(Display, LinesHaveTheirLabelsEachWhereThatIsWanted) {
  DisplayOptions options;
  options.labels_each_line = true;
  EXPECT_EQ(Show(2, options).print(0, "a\nb\n").finish(), "[stdout:0] a\n[stdout:0] b\n");
}

TEST(Display, InATerminalValuesAndDisplaysAreTextThatIsFolded) {
  DisplayOptions options;
  options.is_plain = true;
  Show shown{3, options};
  for (std::size_t rank = 0; rank < 3; ++rank) {
    shown.on(Shown{rank, {{{"text/plain", "<Figure>"}}, Json::object(), {}, false}});
    shown.on(Valued{rank, 1, {{"text/plain", rank == 0 ? "1" : "[[1],\n [2]]"}}, {}});
  }
  EXPECT_EQ(shown.finish(), "[display:0-2] <Figure>\n[result:0] 1\n[result:1,2] \n[[1],\n [2]]\n");
  EXPECT_TRUE(shown.displays.empty());
}

TEST(Display, InATerminalFailuresHaveNoColours) {
  DisplayOptions options;
  options.is_plain = true;
  EXPECT_EQ(Show(1, options).fail(0, "Error", {"\x1b[31mline 1\x1b[0m"}).finish(),
            "[0] Error: why\nline 1\n");
}

TEST(Display, InATerminalWithColoursLabelsAndFailuresHaveThem) {
  DisplayOptions options;
  options.is_plain = options.has_colours = true;
  Show shown{2, options};
  shown.print(0, "a\n").warn(1, "b\n").fail(0, "Error", {"\x1b[31mline 1\x1b[0m"});
  EXPECT_EQ(shown.finish(),
            "\x1b[32m[stdout:0]\x1b[0m a\n[0] Error: why\n\x1b[31mline 1\x1b[0m\n"
            "\x1b[31m[stderr:1]\x1b[0m b\n");
}

// ---------------------------------------------------------------- time

TEST(Display, LinesWaitAMomentForThoseOfOthers) {
  Show shown{2};
  shown.print(0, "ready\n").at(30ms).print(1, "ready\n").at(80ms);
  EXPECT_EQ(shown.text, "");
  shown.at(91ms);
  EXPECT_EQ(shown.text, "[0,1] ready\n");
}

TEST(Display, ALineWaitsLongerWhileOthersHaveSaidNothing) {
  Show shown{2};
  shown.print(0, "ready\n").at(299ms);
  EXPECT_EQ(shown.text, "");
  shown.at(300ms);
  EXPECT_EQ(shown.text, "[stdout:0] ready\n");
}

TEST(Display, ALineDoesNotWaitForRanksThatAreDone) {
  Show shown{2};
  shown.on(Done{1}).print(0, "last\n").at(60ms);
  EXPECT_EQ(shown.text, "[stdout:0] last\n");
}

TEST(Display, NobodyWaitsForARankThatPrintsAllTheTime) {
  Show shown{1};
  for (int i = 0; i < 7; ++i) shown.at(i * 50ms).print(0, "tick\n");
  EXPECT_NE(shown.at(301ms).text, "");
}

TEST(Display, ItSaysWhenItWantsToBeAsked) {
  Show shown{1, {.engines = {}, .progress_after = std::nullopt}};
  EXPECT_GT(shown.next_deadline(), begin + 1min);
  shown.print(0, "x\n");
  EXPECT_EQ(shown.next_deadline(), begin + 60ms);
}

TEST(Display, LinesOfTheSameRanksGoOnBelowTheirLabel) {
  Show shown{1};
  shown.print(0, "a\nb\n").at(100ms).print(0, "c\nd\n").at(200ms);
  EXPECT_EQ(shown.text, "[stdout:0] \na\nb\nc\nd\n");
}

TEST(Display, SingleLinesHaveALabelEach) {
  Show shown{1};
  shown.print(0, "a\n").at(100ms).print(0, "b\n").at(200ms);
  EXPECT_EQ(shown.text, "[stdout:0] a\n[stdout:0] b\n");
}

TEST(Display, ALineWithoutAnEndIsShownAfterHalfASecondAndGoesOn) {
  Show shown{2};
  shown.print(0, "working...").at(400ms);
  EXPECT_EQ(shown.text, "");
  shown.at(500ms);
  EXPECT_EQ(shown.text, "[stdout:0] working...");
  shown.print(0, " done\n").at(900ms);
  EXPECT_EQ(shown.text, "[stdout:0] working... done\n");
}

TEST(Display, AnOpenLineIsEndedBeforeAnotherRankSpeaks) {
  Show shown{2};
  shown.print(0, "working...").at(500ms).print(1, "hi\n").at(900ms).print(0, " done\n").at(1300ms);
  EXPECT_EQ(shown.text, "[stdout:0] working...\n[stdout:1] hi\n[stdout:0]  done\n");
}

// ---------------------------------------------------------------- carriage returns

TEST(Display, ARewrittenLineIsShownAsProgressAndItsLastStateAsText) {
  Show shown{2};
  shown.warn(0, "\r 10%").at(10ms);
  EXPECT_EQ(shown.progress.lines, (std::vector<std::string>{"[stderr:0]  10%"}));
  shown.warn(0, "\r 50%").at(300ms);
  EXPECT_EQ(shown.progress.lines, (std::vector<std::string>{"[stderr:0]  50%"}));
  shown.warn(0, "\r100%\n").at(600ms).at(850ms);
  EXPECT_TRUE(shown.progress.lines.empty());
  EXPECT_EQ(shown.finish(), "[stderr:0] 100%\n");
}

TEST(Display, RewrittenLinesOfSeveralRanksStandBelowEachOther) {
  Show shown{2};
  shown.warn(0, "\r1").warn(1, "\r2").at(10ms);
  EXPECT_EQ(shown.progress.lines, (std::vector<std::string>{"[stderr:0] 1", "[stderr:1] 2"}));
  EXPECT_EQ(shown.finish(), "[stderr:0] 1\n[stderr:1] 2\n");
}

TEST(Display, NestedBarsOfSeveralRanksAreLinesInPlaceAndTheirLastStateText) {
  Show shown{2};
  for (int i = 0; i < 50; ++i) {
    for (const std::size_t rank : {0, 1})
      shown.warn(rank, "\router " + std::to_string(i) + "%")
          .warn(rank, "\n\rinner " + std::to_string(i) + "%\x1b[A");
    shown.at(i * 100ms);
  }
  EXPECT_EQ(shown.text, "") << "nothing floods the cell";
  const std::vector<std::string> lines{"[stderr:0] outer 49%", "[stderr:0] inner 49%",
                                       "[stderr:1] outer 49%", "[stderr:1] inner 49%"};
  EXPECT_EQ(shown.at(6s).progress.lines, lines);
  EXPECT_EQ(shown.finish(), "[stderr:0,1] \nouter 49%\ninner 49%\n");
  EXPECT_TRUE(shown.progress.is_empty());
}

TEST(Display, AFigureDoesNotEndTheBarThatIsBelowIt) {
  Show shown{1};
  shown.warn(0, "\r 10%").on(Shown{0, {{{"text/plain", "f"}}, Json::object(), {}, false}}).at(1s);
  EXPECT_EQ(shown.text, "<[output:0]><f>");
  EXPECT_EQ(shown.progress.lines, (std::vector<std::string>{"[stderr:0]  10%"}));
  shown.warn(0, "\r 20%");
  EXPECT_EQ(shown.finish(), "<[output:0]><f>[stderr:0]  20%\n");
}

// ---------------------------------------------------------------- displays and values

TEST(Display, ADisplayHasItsLabelAndItsEngine) {
  Show shown{2};
  shown.on(Shown{1, {{{"text/plain", "figure"}}, Json::object(), "id", false}});
  EXPECT_EQ(shown.finish(), "<[output:1]><figure>");
  EXPECT_EQ(shown.displays.back().metadata["engine"], 1);
  EXPECT_EQ(shown.displays.back().display_id, "engine-1-id");
}

TEST(Display, AnUpdateHasNoLabel) {
  Show shown{1};
  shown.on(Shown{0, {{{"text/plain", "new"}}, Json::object(), "id", true}});
  EXPECT_EQ(shown.finish(), "<new>");
  EXPECT_TRUE(shown.displays.back().is_update);
}

TEST(Display, WhatWasPrintedBeforeADisplayStandsBeforeIt) {
  Show shown{1};
  shown.print(0, "before")
      .on(Valued{0, 3, {{"text/plain", "42"}}, Json::object()})
      .print(0, "after\n");
  EXPECT_EQ(shown.finish(), "[stdout:0] before\n<\x1b[31mOut[0:3]:\x1b[0m 42>[stdout:0] after\n");
}

TEST(Display, AValueOfSeveralLinesBeginsBelowItsLabel) {
  Show shown{1};
  shown.on(Valued{0, 1, {{"text/plain", "a\nb"}}, Json::object()});
  EXPECT_EQ(shown.finish(), "<\x1b[31mOut[0:1]:\x1b[0m \na\nb>");
}

TEST(Display, ARichValueStandsBelowItsLabel) {
  Show shown{1};
  shown.on(Valued{0, 1, {{"text/plain", "t"}, {"text/html", "<b>t</b>"}}, Json::object()});
  shown.finish();
  ASSERT_EQ(shown.displays.size(), 2U);
  EXPECT_EQ(shown.displays[1].data["text/html"], "<b>t</b>");
}

// ---------------------------------------------------------------- several engines

Valued value(std::size_t rank, long long count, const std::string& text) {
  return {rank, count, {{"text/plain", text}}, Json::object()};
}

/// A figure: its image is its name.
Shown figure(std::size_t rank, const std::string& name) {
  return {rank,
          {{{"text/plain", "<" + name + ">"}, {"image/png", name}}, Json::object(), {}, false}};
}

TEST(Display, OutputOfOneMomentIsSortedByEngineWhicheverCameFirst) {
  Show shown{4};
  for (const std::size_t rank : {3, 0, 1, 2})
    shown.print(rank, "rank " + std::to_string(rank) + "\n");
  for (const std::size_t rank : {1, 0, 3, 2}) shown.on(value(rank, 2, std::to_string(rank)));
  EXPECT_EQ(without_colours(shown.finish()),
            "[stdout:0] rank 0\n<Out[0:2]: 0>[stdout:1] rank 1\n<Out[1:2]: 1>"
            "[stdout:2] rank 2\n<Out[2:2]: 2>[stdout:3] rank 3\n<Out[3:2]: 3>");
}

TEST(Display, TheOrderIsThatOfTheEnginesAndNotOfTheTargets) {
  DisplayOptions options;
  options.engines = {EngineId{5}, EngineId{2}};
  Show shown{2, options};
  shown.print(0, "a\n").print(1, "b\n");
  EXPECT_EQ(shown.finish(), "[stdout:2] b\n[stdout:5] a\n");
}

TEST(Display, AnEngineThatIsSlowDoesNotHoldBackTheOthers) {
  Show shown{3};
  shown.on(value(2, 1, "2")).on(value(0, 1, "0")).at(300ms);
  EXPECT_EQ(without_colours(shown.text), "<Out[0:1]: 0><Out[2:1]: 2>");
  shown.on(value(1, 1, "1"));
  EXPECT_EQ(without_colours(shown.finish()), "<Out[0:1]: 0><Out[2:1]: 2><Out[1:1]: 1>");
}

TEST(Display, EqualValuesAreShownOnceThoughTheNumbersOfTheirCellsDiffer) {
  Show shown{4};
  for (const std::size_t rank : {1, 0, 2, 3}) shown.on(value(rank, rank == 0 ? 2 : 1, "6"));
  EXPECT_EQ(without_colours(shown.finish()), "<Out[0-3]: 6>");
  EXPECT_EQ(shown.displays.back().metadata["engines"], (Json{0, 1, 2, 3}));
}

TEST(Display, ValuesThatDifferKeepTheirNumbers) {
  Show shown{3};
  shown.on(value(0, 2, "6")).on(value(1, 1, "7")).on(value(2, 1, "6"));
  EXPECT_EQ(without_colours(shown.finish()), "<Out[0,2]: 6><Out[1:1]: 7>");
}

TEST(Display, WithoutFoldingEachValueAndFigureIsApart) {
  Show shown{2, {.engines = {}, .is_folding = false}};
  for (const std::size_t rank : {1, 0}) shown.on(value(rank, 1, "6")).on(figure(rank, "a"));
  EXPECT_EQ(without_colours(shown.finish()),
            "<Out[0:1]: 6><[output:0]><<a>><Out[1:1]: 6><[output:1]><<a>>");
}

TEST(Display, FiguresOfSeveralEnginesAreAGridWithTheirLabels) {
  Show shown{4};
  for (const std::size_t rank : {3, 0, 1, 2}) {
    const std::string name = "fig" + std::to_string(rank);
    shown.print(rank, "plotting\n").on(figure(rank, name));
  }
  EXPECT_EQ(shown.finish(),
            "[0-3] plotting\n<[output:0] <fig0>\n[output:1] <fig1>\n"
            "[output:2] <fig2>\n[output:3] <fig3>>");
  ASSERT_EQ(shown.displays.size(), 1U);
  const std::string html = shown.displays[0].data["text/html"];
  std::size_t at = 0;
  for (int i = 0; i < 4; ++i) {
    at = html.find("[output:" + std::to_string(i) + "]", at);
    ASSERT_NE(at, std::string::npos);
    at = html.find("src='data:image/png;base64,fig" + std::to_string(i) + "'", at);
    ASSERT_NE(at, std::string::npos);
  }
}

TEST(Display, AFigureThatComesLaterJoinsTheGrid) {
  Show shown{3};
  shown.on(figure(1, "b")).at(1s).on(figure(2, "c")).at(2s).on(figure(0, "a"));
  shown.finish();
  std::vector<Json> left;
  for (const auto& [id, data] : shown.screen)
    if (!data.empty()) left.push_back(data);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0]["text/plain"], "[output:0] <a>\n[output:1] <b>\n[output:2] <c>");
}

TEST(Display, AFigureBehindTextOrOfTheSameEngineStandsApart) {
  Show text{2};
  text.on(figure(0, "a")).at(1s).print(1, "done\n").on(figure(1, "b"));
  EXPECT_EQ(text.finish(), "<[output:0]><<a>>[stdout:1] done\n<[output:1]><<b>>");
  Show again{2};
  again.on(figure(0, "a")).at(1s).on(figure(0, "b"));
  EXPECT_EQ(again.finish(), "<[output:0]><<a>><[output:0]><<b>>");
  Show unfolded{2, {.engines = {}, .is_folding = false}};
  unfolded.on(figure(0, "a")).at(1s).on(figure(1, "b"));
  EXPECT_EQ(unfolded.finish(), "<[output:0]><<a>><[output:1]><<b>>");
}

TEST(Display, EqualFiguresAreShownOnceAsTheyCame) {
  Show shown{2};
  shown.on(figure(0, "a")).on(figure(1, "a"));
  EXPECT_EQ(shown.finish(), "<[output:0,1]><<a>>");
  EXPECT_EQ(shown.displays[1].data, figure(0, "a").data.data);
}

TEST(Display, TablesThatAreValuesAreAGridToo) {
  Show shown{2};
  for (const std::size_t rank : {0, 1}) {
    const std::string html = "<b>" + std::to_string(rank) + "</b>";
    shown.on(Valued{rank, 1, {{"text/plain", "t"}, {"text/html", html}}, Json::object()});
  }
  EXPECT_EQ(shown.finish(), "<Out[0:1]: t\nOut[1:1]: t>");
}

TEST(Display, WhatCannotStandInAGridStandsBelowEachOther) {
  Show shown{2};
  for (const std::size_t rank : {1, 0})
    shown.on(Shown{rank,
                   {{{"text/plain", std::to_string(rank)}, {"text/latex", std::to_string(rank)}},
                    Json::object(),
                    {},
                    false}});
  EXPECT_EQ(shown.finish(), "<[output:0]><0><[output:1]><1>");
}

// ---------------------------------------------------------------- clear_output

TEST(Display, ALoneEngineClearsTheOutputOfTheCell) {
  Show alone{1};
  alone.on(Cleared{0, false}).finish();
  EXPECT_EQ(alone.clears, 1);
}

TEST(Display, FramesOfSeveralEnginesReplaceEachOther) {
  Show shown{4};
  for (int frame = 0; frame < 3; ++frame) {
    for (std::size_t rank = 0; rank < 4; ++rank)
      shown.on(Cleared{rank, true})
          .on(figure(rank, std::to_string(frame) + "of" + std::to_string(rank)));
    shown.at(frame * 1s);
  }
  shown.finish();
  EXPECT_EQ(shown.clears, 0);
  ASSERT_EQ(shown.screen.size(), 1U);
  EXPECT_EQ(shown.screen.begin()->second["text/plain"],
            "[output:0] <2of0>\n[output:1] <2of1>\n[output:2] <2of2>\n[output:3] <2of3>");
}

TEST(Display, ClearingTakesAwayWhatTheEngineHasShownAndNothingOfOthers) {
  Show shown{2};
  shown.print(0, "kept\n").on(figure(0, "a")).on(figure(1, "b")).at(1s);
  shown.on(Cleared{1, false}).on(figure(1, "c")).at(2s);
  shown.finish();
  std::string texts;
  for (const auto& [id, data] : shown.screen) texts += data.value("text/plain", "") + ";";
  EXPECT_EQ(texts, "[output:0] <a>;[output:1] <c>;");
  EXPECT_EQ(shown.text.rfind("[stdout:0] kept\n", 0), 0U);
}

TEST(Display, AClearThatWaitsKeepsTheLastFrameUntilTheNext) {
  Show shown{2};
  for (const std::size_t rank : {0, 1}) shown.on(figure(rank, "a" + std::to_string(rank)));
  shown.at(1s).on(Cleared{0, true}).on(Cleared{1, true}).at(2s).finish();
  ASSERT_EQ(shown.screen.size(), 1U);
  EXPECT_EQ(shown.screen.begin()->second["text/plain"], "[output:0] <a0>\n[output:1] <a1>");
}

TEST(Display, TextBehindAClearIsReplacedByTheNextText) {
  Show shown{2};
  for (int i = 0; i < 3; ++i) {
    for (const std::size_t rank : {0, 1})
      shown.on(Cleared{rank, true}).print(rank, "step " + std::to_string(i) + "\n");
    shown.at(i * 1s);
  }
  shown.finish();
  ASSERT_EQ(shown.screen.size(), 1U);
  EXPECT_EQ(shown.screen.begin()->second["text/plain"], "[output:0,1] step 2");
  EXPECT_EQ(shown.errors, "");
}

TEST(Display, ATerminalShowsTheLastFrameAtTheEnd) {
  DisplayOptions options;
  options.can_update = false;
  options.is_plain = true;
  Show shown{2, options};
  for (int i = 0; i < 3; ++i) {
    for (const std::size_t rank : {0, 1})
      shown.on(Cleared{rank, true})
          .print(rank, "step " + std::to_string(i) + "\n")
          .on(figure(rank, "f" + std::to_string(i)));
    shown.at(i * 1s);
  }
  EXPECT_EQ(shown.finish(), "[0,1] step 2\n[display:0,1] <f2>\n");
}

// ---------------------------------------------------------------- failures

TEST(Display, EqualFailuresAreShownOnce) {
  Show shown{4};
  for (std::size_t rank = 0; rank < 4; ++rank)
    shown.fail(rank, "ZeroDivisionError",
               {"Traceback", "In [" + std::to_string(rank) + "] 1/0",
                "\x1b[31mZeroDivisionError\x1b[0m: why"});
  EXPECT_EQ(shown.finish(), "[0-3] ZeroDivisionError: why\nTraceback\nIn [0] 1/0\n");
  EXPECT_EQ(shown.errors, shown.text);
}

TEST(Display, FailuresThatDifferInTheNumberOfTheCellAloneAreEqual) {
  Show shown{2};
  for (std::size_t rank = 0; rank < 2; ++rank)
    shown.on(Failed{
        rank, {"CompileError", "cell " + std::to_string(9 + rank) + ", line 1: no x", {}, {}, ""}});
  EXPECT_EQ(shown.finish(), "[0,1] CompileError: cell 9, line 1: no x\n");
}

TEST(Display, TheFirstFailureIsShownWhileOthersRun) {
  Show shown{2};
  shown.fail(1, "ValueError").at(200ms);
  EXPECT_EQ(shown.text, "[1] ValueError: why\n");
}

TEST(Display, FailuresAfterAnInterruptAreShownTogether) {
  Show shown{2};
  shown.interrupt().fail(0, "KeyboardInterrupt").at(900ms).fail(1, "KeyboardInterrupt").at(1s);
  EXPECT_EQ(shown.text, "");
  EXPECT_EQ(shown.finish(), "[0,1] KeyboardInterrupt: why\n");
}

TEST(Display, ATracebackThatWasShownIsNotRepeated) {
  Show shown{2};
  shown.fail(0, "ValueError", {"line 1"}).at(200ms).fail(1, "KeyError", {"line 1"}).at(400ms);
  EXPECT_EQ(shown.text, "[0] ValueError: why\nline 1\n[1] KeyError: why (same traceback as [0])\n");
}

TEST(Display, AFailureStandsBehindWhatItsRankPrinted) {
  Show shown{2};
  shown.print(0, "begun\nhalf").fail(0, "ValueError").print(1, "fine\n");
  EXPECT_EQ(shown.finish(), "[stdout:0] \nbegun\nhalf\n[0] ValueError: why\n[stdout:1] fine\n");
}

// ---------------------------------------------------------------- bounds, progress

TEST(Display, OutputIsBoundedOnRequestAndSaysSo) {
  Show shown{2, {.engines = {}, .max_lines = 2}};
  shown.print(0, "1\n2\n3\n4\n").print(1, "1\n");
  EXPECT_EQ(shown.finish(),
            "[0,1] 1\n[stdout:0] 2\n[0] 2 more lines are not shown (--max-output 2); "
            "show all with %pxresult --max-output all\n");
}

TEST(Display, AProgressBarAppearsAfterItsTimeAndGoes) {
  Show shown{4};
  shown.on(Done{0}).at(1900ms);
  EXPECT_TRUE(shown.progress.is_empty());
  shown.at(2s);
  EXPECT_EQ(shown.progress, (ShowProgress{1, 4, 2s, {}}));
  shown.on(Done{1}).at(3100ms);
  EXPECT_EQ(shown.progress, (ShowProgress{2, 4, 3s, {}}));
  shown.finish();
  EXPECT_TRUE(shown.progress.is_empty());
}

TEST(Display, WhatTheEnginesWaitForStandsWithTheProgressAndGoes) {
  Show shown{2, {.engines = {}, .progress_after = std::nullopt}};
  shown.say_wait("waiting: 0 and 1 in MPI_Barrier for 12 s").at(12s);
  EXPECT_EQ(shown.progress, (ShowProgress{0, 0, {}, {"waiting: 0 and 1 in MPI_Barrier for 12 s"}}));
  shown.say_wait("").at(13s);
  EXPECT_TRUE(shown.progress.is_empty());
}

TEST(Display, WithoutProgressThereIsNoBar) {
  Show shown{1, {.engines = {}, .progress_after = std::nullopt}};
  EXPECT_TRUE(shown.at(1min).progress.is_empty());
}

// ---------------------------------------------------------------- whatever comes

/// The lines of each rank, read back from the labelled text.
std::vector<std::vector<std::string>> lines_of(const std::string& text, std::size_t ranks) {
  std::vector<std::vector<std::string>> found(ranks);
  std::vector<std::size_t> present;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.front() == '[') {
      present.clear();
      const std::size_t close = line.find(']');
      std::string names = line.substr(1, close - 1);
      if (const auto colon = names.find(':'); colon != std::string::npos)
        names = names.substr(colon + 1);
      for (std::size_t begin_at = 0; begin_at < names.size();) {
        std::size_t used = 0;
        std::size_t first = std::stoul(names.substr(begin_at), &used), last = first;
        begin_at += used;
        if (begin_at < names.size() && names[begin_at] == '-') {
          last = std::stoul(names.substr(begin_at + 1), &used);
          begin_at += used + 1;
        }
        ++begin_at;
        for (; first <= last; ++first) present.push_back(first);
      }
      line = line.substr(close + 2);
      if (line.empty()) continue;
    }
    for (const std::size_t rank : present) found[rank].push_back(line);
  }
  return found;
}

TEST(Display, WhateverComesAllLinesOfEachRankAreShownInTheirOrder) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random{seed};
    const std::size_t ranks = 1 + random() % 5;
    Show shown{ranks};
    std::vector<std::string> printed(ranks);
    Duration time{};
    for (unsigned i = 0, count = static_cast<unsigned>(random() % 60); i < count; ++i) {
      const std::size_t rank = random() % ranks;
      std::string text;
      for (unsigned j = 0, length = 1 + random() % 4; j < length; ++j)
        text += std::string(1, static_cast<char>('a' + random() % 3)) + "\n";
      printed[rank] += text;
      // In pieces, so that lines come without their ends.
      const std::size_t cut = random() % (text.size() + 1);
      shown.print(rank, text.substr(0, cut));
      if (cut % 2 == 0 && random() % 2) shown.at(time += std::chrono::milliseconds(random() % 90));
      shown.print(rank, text.substr(cut));
      if (random() % 4 == 0) shown.at(time += std::chrono::milliseconds(random() % 90));
    }
    const auto found = lines_of(shown.finish(), ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::string joined;
      for (const std::string& line : found[rank]) joined += line + "\n";
      EXPECT_EQ(joined, printed[rank]) << "seed " << seed << ", rank " << rank;
    }
  }
}

// ---------------------------------------------------------------- once all is over

std::string told(const std::vector<Action>& actions) {
  std::string text;
  for (const Action& action : actions) {
    if (const auto* write = std::get_if<WriteText>(&action)) text += write->text;
    if (const auto* data = std::get_if<ShowData>(&action))
      text += "<" + without_colours(data->data.value("text/plain", "rich")) + ">";
  }
  return text;
}

std::vector<EngineOutput> two_engines() {
  std::vector<EngineOutput> outputs;
  for (const int id : {0, 1}) {
    const std::string n = std::to_string(id);
    outputs.push_back(
        {EngineId{id},
         {Printed{0, false, "out" + n + "\n"}, Shown{0, {{{"text/plain", "a" + n}}, {}, {}, false}},
          Printed{0, true, "err" + n + "\n"}, Shown{0, {{{"text/plain", "b" + n}}, {}, {}, false}},
          Valued{0, 1, {{"text/plain", "v" + n}}, Json::object()}}});
  }
  return outputs;
}

TEST(GroupedDisplay, ByTypeAllStdoutComesFirst) {
  EXPECT_EQ(told(show_grouped(two_engines(), Grouping::type)),
            "[stdout:0] out0\n[stdout:1] out1\n[stderr:0] err0\n[stderr:1] err1\n"
            "<[output:0]><a0><b0><[output:1]><a1><b1><Out[0:1]: v0><Out[1:1]: v1>");
}

TEST(GroupedDisplay, ByEngineAllOfOneComesFirst) {
  EXPECT_EQ(told(show_grouped(two_engines(), Grouping::engine)),
            "[stdout:0] out0\n[stderr:0] err0\n<[output:0]><a0><b0><Out[0:1]: v0>"
            "[stdout:1] out1\n[stderr:1] err1\n<[output:1]><a1><b1><Out[1:1]: v1>");
}

TEST(GroupedDisplay, InOrderTheFirstDisplaysOfAllComeFirst) {
  EXPECT_EQ(told(show_grouped(two_engines(), Grouping::order)),
            "[stdout:0] out0\n[stdout:1] out1\n[stderr:0] err0\n[stderr:1] err1\n"
            "<[output:0]><a0><[output:1]><a1><[output:0]><b0><[output:1]><b1>"
            "<Out[0:1]: v0><Out[1:1]: v1>");
}

TEST(GroupedDisplay, OutputIsBoundedOnRequest) {
  std::vector<EngineOutput> outputs{{EngineId{0}, {Printed{0, false, "1\n2\n3\n"}}}};
  EXPECT_EQ(told(show_grouped(outputs, Grouping::type, 1)),
            "[stdout:0] \n1\n(2 more lines are not shown: --max-output)\n");
  EXPECT_EQ(told(show_grouped(outputs, Grouping::type, 3)), "[stdout:0] \n1\n2\n3\n");
}

}  // namespace
}  // namespace px::magics
