#include <gtest/gtest.h>

#include "interpreters/cpp/cells/code_points.hpp"
#include "interpreters/cpp/compile/package_flags.hpp"
#include "interpreters/cpp/messages/diagnostic_text.hpp"

namespace px::cpp {
namespace {

TEST(DiagnosticText, SpellsPlacesInCells) {
  EXPECT_EQ(name_lines_of_cells("cell 3:2:5: error: no"), "cell 3, line 2, column 5: error: no\n");
  EXPECT_EQ(name_lines_of_cells("In file included from cell 3:2:\n/a/b.hpp:1:2: error: no"),
            "In file included from cell 3, line 2:\n/a/b.hpp:1:2: error: no\n");
  EXPECT_EQ(name_lines_of_cells("In file included from <<< inputs >>>:1:\n"), "");
  EXPECT_EQ(name_lines_of_cells("    1 | a ? b:1:2"), "    1 | a ? b:1:2\n");
}

TEST(DiagnosticText, KnowsTheFirstError) {
  EXPECT_EQ(first_error("a: warning: w\nb: error: e\nc: error: f\n"), "b: error: e");
}

TEST(CodePoints, AreCountedAsJupyterDoes) {
  const std::string text = "a\xC3\xA9z";  // e with an accent
  EXPECT_EQ(code_points(text, 3), 2);
  EXPECT_EQ(byte_offset(text, 2), 3u);
  EXPECT_EQ(byte_offset(text, 99), text.size());
}

TEST(PackageFlags, AreReadFromPkgConfig) {
  const PackageFlags flags =
      read_package_flags("-I/a/inc -DFAST -DN=3 -L/no -lm -lgone -pthread\n");
  EXPECT_EQ(flags.include_folders, std::vector<std::string>{"/a/inc"});
  EXPECT_EQ(flags.libraries, (std::vector<std::string>{"m", "gone"}));
  EXPECT_EQ(flags.definitions, "#define FAST 1\n#define N 3\n");
}

TEST(PackageFlags, AreNotAskedForByWhatIsNoName) {
  EXPECT_EQ(ask_pkg_config("x; rm y").error().kind, ErrorKind::bad_input);
  EXPECT_EQ(ask_pkg_config("--help").error().kind, ErrorKind::bad_input);
}

}  // namespace
}  // namespace px::cpp
