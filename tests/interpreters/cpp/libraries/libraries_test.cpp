// Cells that use libraries as their users do, and what the values look like: the libraries
// themselves, where the tests of shown values have classes that only look like theirs.

#include "tests/interpreters/cpp/other_kernels/notebook.hpp"

namespace px::cpp {
namespace {

using Libraries = Notebook;

TEST_F(Libraries, EigenShowsMatricesAsTables) {
  run("%pkg eigen3\n#include <Eigen/Dense>");
  EXPECT_EQ(shown("Eigen::Matrix2d m;\nm << 1, 2.5, -3, 10;\nm"), " 1.0   2.5\n-3.0  10.0");
  EXPECT_EQ(shown("m * m.transpose() + Eigen::Matrix2d::Identity()"), "8.25   22.0\n22.0  110.0");
  EXPECT_EQ(shown("Eigen::Vector3i(1, 2, 3)"), "1\n2\n3");
  EXPECT_EQ(shown("m.determinant()"), "17.5");
  EXPECT_NE(shown("m", "text/html").find("<table>"), std::string::npos);
}

TEST_F(Libraries, XtensorShowsArraysOfAnyRank) {
  run("#include <xtensor/xarray.hpp>");
  EXPECT_EQ(shown("xt::xarray<double> a{{1, 2}, {3, 4.5}}; a"), "1.0  2.0\n3.0  4.5");
  EXPECT_EQ(shown("2 * a + 1"), "3.0   5.0\n7.0  10.0");
  EXPECT_EQ(shown("xt::xarray<int>{1, 2, 3}"), "{1, 2, 3}");
}

TEST_F(Libraries, NlohmannsJsonIsShownAsText) {
  run("#include <nlohmann/json.hpp>");
  EXPECT_EQ(shown(R"(nlohmann::json j = {{"name", "a"}, {"list", {1, 2.5, nullptr}}}; j["list"])"),
            "[\n  1,\n  2.5,\n  null\n]");
  EXPECT_EQ(shown(R"(j.at("name").get<std::string>())"), "\"a\"");
  EXPECT_EQ(shown("j.size()"), "2");
  EXPECT_NE(why("j.at(\"gone\")").find("key 'gone' not found"), std::string::npos);
}

TEST_F(Libraries, FmtMakesTexts) {
  run("%lib fmt\n#include <fmt/ranges.h>");
  EXPECT_EQ(printed("std::cout << fmt::format(\"{:>5}|{}\", 42, std::vector<int>{1, 2});"),
            "   42|[1, 2]");
  EXPECT_EQ(shown("fmt::format(\"{:.2f}\", 3.14159)"), "\"3.14\"");
}

}  // namespace
}  // namespace px::cpp
