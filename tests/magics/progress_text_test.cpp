#include "magics/progress_text.hpp"

#include <gtest/gtest.h>

namespace px::magics {
namespace {

using namespace std::chrono_literals;

TEST(ProgressText, ABarSaysHowManyEnginesAreDoneAndSinceWhen) {
  const ShowProgress progress{1, 4, 65s, {}};
  EXPECT_EQ(progress_lines(progress),
            (std::vector<std::string>{"[#####---------------] 1/4 engines done, 1:05"}));
  EXPECT_EQ(progress_data(progress),
            (Json{{"text/plain", "[#####---------------] 1/4 engines done, 1:05"},
                  {"text/html",
                   "<progress max='4' value='1' style='width:14em'></progress> 1/4 engines done, "
                   "1:05"}}));
}

TEST(ProgressText, OneEngineIsSaidToBeOne) {
  EXPECT_EQ(progress_lines(ShowProgress{0, 1, 2s, {}}),
            (std::vector<std::string>{"[--------------------] 0/1 engine done, 0:02"}));
}

TEST(ProgressText, LinesThatEnginesRewriteStandAboveTheBar) {
  const ShowProgress progress{0, 2, 3s, {"a <b>", "c"}};
  EXPECT_EQ(progress_data(progress)["text/plain"],
            "a <b>\nc\n[--------------------] 0/2 engines done, 0:03");
  EXPECT_EQ(
      progress_data(progress)["text/html"].get<std::string>().find(
          "<pre style='margin:0'>a &lt;b&gt;</pre>\n<pre style='margin:0'>c</pre>\n<progress"),
      0U);
}

TEST(ProgressText, WithoutABarTheLinesStandAlone) {
  const ShowProgress progress{0, 0, {}, {"50 %", "60 %"}};
  EXPECT_EQ(progress_lines(progress), (std::vector<std::string>{"50 %", "60 %"}));
  EXPECT_EQ(progress_data(progress)["text/plain"], "50 %\n60 %");
}

TEST(ProgressText, ColoursOfBarsAreKept) {
  const ShowProgress progress{0, 0, {}, {"\x1b[32m50%\x1b[0m <"}};
  EXPECT_EQ(progress_data(progress)["text/html"],
            "<pre style='margin:0'><span style='color:#1e8449'>50%</span> &lt;</pre>");
}

TEST(ProgressText, NothingToShowIsNothing) {
  EXPECT_TRUE(progress_lines({}).empty());
  EXPECT_EQ(progress_data({}), Json::object());
}

}  // namespace
}  // namespace px::magics
