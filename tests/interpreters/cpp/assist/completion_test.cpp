#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "interpreters/cpp/assist/suggestion.hpp"
#include "interpreters/cpp/cells/cursor_context.hpp"
#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

using Texts = std::vector<std::string>;

class Completion : public SessionTest {
 protected:
  /// `|` in the code is the cursor; without one it is at the end.
  std::vector<Suggestion> suggestions(std::string code) {
    const std::size_t cursor = std::min(code.find('|'), code.size());
    if (cursor < code.size()) code.erase(cursor, 1);
    return session().complete(code, cursor).suggestions;
  }
  Texts texts(const std::string& code) {
    Texts found;
    for (const Suggestion& each : suggestions(code)) found.push_back(each.text);
    return found;
  }
  bool has(const std::string& code, const std::string& text) {
    const Texts found = texts(code);
    return std::count(found.begin(), found.end(), text) == 1;
  }
  Suggestion first(const std::string& code) {
    const auto found = suggestions(code);
    return found.empty() ? Suggestion{} : found.front();
  }
};

TEST_F(Completion, KnowsNamesOfEarlierCells) {
  runs("int velocity = 1; double velocity_of(int) { return 2; } struct Velo {};");
  EXPECT_EQ(texts("int a = velo"), (Texts{"velocity", "velocity_of"}));
  EXPECT_EQ(session().complete("int a = velo", 12).begin, 8u);
  EXPECT_EQ(texts("Velo"), Texts{"Velo"});
  EXPECT_TRUE(has("whi", "while"));
}

TEST_F(Completion, KnowsMembers) {
  runs(
      "struct Base { int base; }; struct P : Base { int x; double get(int) { return 1; }"
      " P* next() { return this; } static int count; private: int secret; }; P p; P* q = &p;");
  EXPECT_TRUE(has("p.", "x") && has("p.", "get") && has("p.", "base"));
  EXPECT_FALSE(has("p.", "secret") || has("p.", "velocity") || has("p.", "while"));
  EXPECT_EQ(texts("q->ge"), Texts{"get"});
  EXPECT_EQ(texts("p.next()->nex"), Texts{"next"});
  EXPECT_EQ(texts("P::cou"), Texts{"count"});
  EXPECT_EQ(texts("int y = p.ge"), Texts{"get"});
}

TEST_F(Completion, KnowsTheStandardLibrary) {
  runs(
      "#include <vector>\n#include <memory>\nstd::vector<int> v;"
      " auto s = std::make_unique<std::vector<int>>();");
  EXPECT_EQ(texts("v.push_"), Texts{"push_back"});
  EXPECT_EQ(texts("s->emplace_b"), Texts{"emplace_back"});
  EXPECT_TRUE(has("std::vec", "vector"));
  EXPECT_TRUE(has("vec", "std::vector"));
  EXPECT_TRUE(has("for (auto& each : v) { std::make_uni|", "make_unique"));
  runs("using namespace std;");
  EXPECT_EQ(texts("vecto"), Texts{"vector"});
}

TEST_F(Completion, KnowsTheCellThatIsBeingWritten) {
  EXPECT_EQ(texts("struct Q { int quality; };\nQ q;\nq.qua"), Texts{"quality"});
  EXPECT_EQ(texts("struct Q { int quality; };\nvoid f() { Q local; local.qua"), Texts{"quality"});
  EXPECT_EQ(texts("enum class Color { red, green };\nauto c = Color::gr"), Texts{"green"});
  EXPECT_EQ(texts("int f(int amount) {\n  for (int amplitude = 0;;) am|;\n}"),
            (Texts{"amount", "amplitude"}));
  EXPECT_FALSE(session().is_defined("Q"));
}

TEST_F(Completion, WorksInTheMiddleOfACell) {
  runs("struct P { int length; int level; } p;");
  EXPECT_EQ(texts("int a = p.le|;\nint b = a + p.level;\n"), (Texts{"length", "level"}));
  EXPECT_EQ(texts("int a = p.le|ngth;"), (Texts{"length", "level"}));
  EXPECT_EQ(texts("int twice(P each) {\n  return 2 * each.lev|;\n}\ntwice(p)"), Texts{"level"});
  EXPECT_EQ(texts("typo typo typo;\nauto f = [&] { return p.lev| };"), Texts{"level"});
}

TEST_F(Completion, PrefersTheNewDefinitionOfAName) {
  runs("struct Thing { int early; }; Thing thing;");
  EXPECT_EQ(texts("struct Thing { int late; };\nThing thing;\nthing."), Texts{"late"});
  EXPECT_EQ(texts("thing."), Texts{"early"});
}

TEST_F(Completion, KnowsHeaders) {
  EXPECT_EQ(texts("#include <unordered_|"), (Texts{"unordered_map>", "unordered_set>"}));
  EXPECT_EQ(texts("#include <unordered_|>\nint x;"), (Texts{"unordered_map", "unordered_set"}));
  EXPECT_EQ(session().complete("#include <sys/ty", 16).begin, 14u);
  EXPECT_TRUE(has("#include <sys/type|", "types.h>"));
  EXPECT_FALSE(has("#include <b|", "bits/"));
  const auto folder = std::filesystem::temp_directory_path() / "px completion of headers";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "mine_of_the_test.hpp") << "int of_header;";
  ASSERT_TRUE(session().add_include_folder(folder.string()));
  EXPECT_EQ(texts("#include \"mine_of|"), Texts{"mine_of_the_test.hpp\""});
  std::filesystem::remove_all(folder);
}

TEST_F(Completion, KnowsMacros) {
  runs("#define SQUARE_OF(x) ((x) * (x))\n");
  EXPECT_EQ(texts("int y = SQUARE_"), Texts{"SQUARE_OF"});
  EXPECT_EQ(first("int y = SQUARE_").kind, "macro");
  EXPECT_EQ(texts("#define CUBE_OF(x) 1\nint y = CUBE_"), Texts{"CUBE_OF"});
  EXPECT_EQ(texts("#ifdef SQUARE_|\n#endif"), Texts{"SQUARE_OF"});
}

TEST_F(Completion, BeginsWithWhatTheUserHasMade) {
  runs("#include <cmath>\n#include <vector>\n#include <mutex>\n");
  runs("double force = 1; double friction_of(double) { return 1; }");
  const Texts found = texts("double frequency = 2;\nf");
  ASSERT_GE(found.size(), 5u);
  EXPECT_EQ(Texts(found.begin(), found.begin() + 3), (Texts{"force", "frequency", "friction_of"}));
  EXPECT_TRUE(has("f", "false") && has("f", "for"));
  EXPECT_LE(found.size(), most_suggestions);
  for (const Suggestion& each : suggestions("")) EXPECT_FALSE(each.text.starts_with("_"));
  EXPECT_EQ(texts("f").front(), "force");
}

TEST_F(Completion, NamesNothingInternal) {
  runs("#include <vector>\nstd::vector<int> v;");
  for (const char* code : {"v.", "std::", "p", "px", "", "o", "O", "a", "std::vector<int>::"})
    for (const std::string& each : texts(code)) {
      EXPECT_FALSE(each.starts_with("_") || each.find("__") != each.npos) << code << ": " << each;
      EXPECT_FALSE(each.starts_with("px_")) << code << ": " << each;
    }
}

TEST_F(Completion, SaysTypes) {
  runs(
      "struct P { int x; double get(int n, double by = 1) { return 1; } } p; int number = 1;"
      " double area(double width) { return 1; } double area(int a, int b) { return 1; }");
  EXPECT_EQ(first("p.ge").kind, "function");
  EXPECT_EQ(first("p.ge").signature, "(int n, double by = 1) -> double");
  EXPECT_EQ(first("p.x").kind, "property");
  EXPECT_EQ(first("p.x").signature, "int");
  EXPECT_EQ(first("numb").kind, "instance");
  EXPECT_EQ(first("numb").signature, "int");
  EXPECT_TRUE(first("area").signature.ends_with(" -> double (+1)")) << first("area").signature;
  EXPECT_EQ(first("namespa").kind, "keyword");
}

TEST_F(Completion, IsNotOfferedInTextsAndComments) {
  runs("int velocity = 1;");
  EXPECT_EQ(texts("// velo"), Texts{});
  EXPECT_EQ(texts("auto s = \"velo|\";"), Texts{});
  EXPECT_EQ(texts("/* velo| */"), Texts{});
}

TEST(CursorContext, SeesTheWordAroundTheCursor) {
  const CursorContext context = context_of_cursor("std::vector<int> v;", 8);
  EXPECT_EQ(context.word, "vec");
  EXPECT_EQ(context.whole_word, "vector");
  EXPECT_EQ(context.qualified, "std::vector");
  EXPECT_TRUE(context.is_member);
  EXPECT_FALSE(context_of_cursor("int vec", 7).is_member);
  EXPECT_EQ(context_of_cursor("f(12", 4).whole_word, "");
}

TEST(CursorContext, SeesPathsOfIncludes) {
  const CursorContext context = context_of_cursor("int x;\n # include <a/b>", 22);
  EXPECT_TRUE(context.is_path);
  EXPECT_EQ(context.word, "b");
  EXPECT_FALSE(context_of_cursor("#include <a> f", 14).is_path);
  EXPECT_FALSE(context_of_cursor("a < b", 5).is_path);
}

}  // namespace
}  // namespace px::cpp
