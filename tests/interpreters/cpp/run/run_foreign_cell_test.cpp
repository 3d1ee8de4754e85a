// Cells as the notebooks of xeus-cpp and xeus-cling have them.

#include <regex>

#include "tests/interpreters/cpp/other_kernels/notebook.hpp"

namespace px::cpp {
namespace {

using ForeignCells = Notebook;

TEST_F(ForeignCells, DisplayByTheHeaderOfXeus) {
  run("#include \"xcpp/xdisplay.hpp\"\n#include <xcpp/xmime.hpp>\nxcpp::display(3);");
  ASSERT_EQ(heard_->messages.size(), 1u);
  EXPECT_EQ(heard_->messages[0].second["data"]["text/plain"], "3");
  run("xcpp::display(std::string(\"a\"), \"here\");\nxcpp::display(4, \"here\", true);\n"
      "xcpp::clear_output(true);");
  ASSERT_EQ(heard_->messages.size(), 3u);
  EXPECT_EQ(heard_->messages[0].first, "display_data");
  EXPECT_EQ(heard_->messages[0].second["transient"]["display_id"], "here");
  EXPECT_EQ(heard_->messages[1].first, "update_display_data");
  EXPECT_EQ(heard_->messages[1].second["transient"]["display_id"], "here");
  EXPECT_EQ(heard_->messages[1].second["data"]["text/plain"], "4");
  EXPECT_EQ(heard_->messages[2].first, "clear_output");
  EXPECT_EQ(shown("xcpp::mime_bundle_repr(std::vector<int>{1})[\"text/plain\"]"), "\"{1}\"");
}

TEST_F(ForeignCells, HaveBase64) {
  run("#include \"xeus/xbase64.hpp\"\n#include \"xtl/xbase64.hpp\"");
  EXPECT_EQ(shown("xeus::base64encode(\"Man\")"), "\"TWFu\"");
  EXPECT_EQ(shown("xtl::base64encode(\"Ma\")"), "\"TWE=\"");
  EXPECT_EQ(shown("xeus::base64encode(\"\")"), "\"\"");
  EXPECT_EQ(shown("xeus::base64decode(\"TQ==\")"), "\"M\"");
  EXPECT_EQ(shown("xeus::base64decode(xeus::base64encode(\"\\x01\\x10 any\"))"),
            "\"\\x01\\x10 any\"");
}

TEST_F(ForeignCells, ShowImagesByTheirOwnBundle) {
  run("namespace im { struct image { std::string bytes; };\n"
      "std::map<std::string, std::string> mime_bundle_repr(const image& i) {\n"
      "  return {{\"image/png\", i.bytes}, {\"text/plain\", \"an image\"}}; } }");
  EXPECT_EQ(shown("im::image{\"iVBO\"}", "image/png"), "iVBO");
  EXPECT_EQ(shown("std::vector<im::image>(2)"), "{an image, an image}");
  EXPECT_EQ(shown("std::optional<im::image>(im::image{})"), "an image");
}

TEST_F(ForeignCells, ExplainNames) {
  EXPECT_NE(shown("?std::vector").find("https://en.cppreference.com/w/cpp/container/vector"),
            std::string::npos);
  run("/// Twice as much.\nint twice(int x) { return 2 * x; }");
  EXPECT_NE(shown("twice?").find("int twice(int x)"), std::string::npos);
  EXPECT_NE(why("?no_such_name_here").find("no_such_name_here"), std::string::npos);
}

TEST_F(ForeignCells, RunCommandsInAShell) {
  const std::string file = (folder_ / "made").string();
  run("!echo \"it's $((6*7))\" > " + file + "; echo $HOME >> " + file + "\nint after = 5;");
  EXPECT_EQ(text_of(file).substr(0, 8), "it's 42\n");
  EXPECT_EQ(shown("after"), "5");
  run("bool is_done = false;");
  EXPECT_EQ(shown("!is_done"), "true");  // C++ where it is
}

TEST_F(ForeignCells, WriteFiles) {
  const std::string file = (folder_ / "notes.txt").string();
  EXPECT_EQ(printed("%%file " + file + "\none\n  two"), "Writing " + file + "\n");
  EXPECT_EQ(text_of(file), "one\n  two\n");
  EXPECT_EQ(printed("%%writefile -a " + file + "\nthree\n"), "Appending to " + file + "\n");
  EXPECT_EQ(text_of(file), "one\n  two\nthree\n");
  EXPECT_EQ(printed("%%file " + file + "\n"), "Overwriting " + file + "\n");
  EXPECT_EQ(text_of(file), "");
  EXPECT_EQ(why("%%file /no/such/folder/x\na"), "cannot write /no/such/folder/x");
}

TEST_F(ForeignCells, IncludeWhatTheyWrote) {
  const std::string file = (folder_ / "half.hpp").string();
  run("%%file " + file + "\ninline int half(int x) { return x / 2; }\n");
  EXPECT_EQ(shown(".L " + file + "\nhalf(8)"), "4");
  run("%%file " + (folder_ / "quarter.hpp").string() +
      "\ninline int quarter(int x) { return x / 4; }");
  EXPECT_EQ(shown(".I " + folder_.string() + "\n#include <quarter.hpp>\nquarter(8)"), "2");
}

TEST_F(ForeignCells, LoadLibrariesByAPragma) {
  run("extern \"C\" const char* zlibVersion();");
  EXPECT_EQ(
      run("#pragma cling load(\"libz.so.1\")\nbool has_zlib = zlibVersion() != nullptr;")["status"],
      "ok");
  EXPECT_NE(why("#pragma cling load(\"no_such_library\")").find("no_such_library"),
            std::string::npos);
  EXPECT_NE(why("#pragma cling add_include_path(\"/no/such\")").find("/no/such"),
            std::string::npos);
  EXPECT_EQ(run("#pragma cling add_library_path(\"/tmp\")\nint q = 1;")["status"], "ok");
  run("#pragma cling optimize(0)\nint r = 1;");
  EXPECT_NE(heard_->warned.find("%flags"), std::string::npos);
}

TEST_F(ForeignCells, MakeAProgram) {
  const std::string file = (folder_ / "program").string();
  run("#include <cstdio>\nint answer_of_program() { return 41; }");
  run("int answer_of_program() { return 42; }\nstruct Wrapped { int x = answer_of_program(); };");
  EXPECT_EQ(printed("%%executable " + file + " -- -O0\nstd::printf(\"%d\\n\", Wrapped{}.x);"),
            "Writing the program " + file + "\n");
  run("!" + file + " > " + file + ".txt");
  EXPECT_EQ(text_of(file + ".txt"), "42\n");
  EXPECT_NE(why("%%executable " + file + " -- -O0\nnowhere();").find("nowhere"), std::string::npos);
}

TEST_F(ForeignCells, MeasureWhatTheOptimizerWouldLeaveOut) {
  run("long measured_runs = 0; double work(double x) { ++measured_runs; return x; }");
  EXPECT_NE(printed("%%timeit -n 10 -r 1\ndouble d = work(2); work(d);").find("per loop"),
            std::string::npos);
  EXPECT_EQ(shown("measured_runs"), "20");
  const auto forms = forms_of({{{DirectiveKind::timeit}}, "int s = 0; s += 2; f(s);"});
  const std::regex layout(R"(/\*px\*/|#line \d+\n|\s)");  // of what is inserted, and blanks
  const std::string form = std::regex_replace(forms.at(0), layout, "");
  EXPECT_NE(form.find("ints=0;::px::cell::Keeper{},(s);"), std::string::npos) << form;
  EXPECT_NE(form.find("::px::cell::Keeper{},(f(s));"), std::string::npos) << form;
  EXPECT_NE(form.find("(f(s));::px::cell::Keeper{},(s);"), std::string::npos) << form;
}

TEST_F(ForeignCells, SayWhatToWriteInstead) {
  EXPECT_NE(why(".q").find("Kernel menu"), std::string::npos);
  EXPECT_NE(printed(".help").find("%%executable"), std::string::npos);
  EXPECT_NE(why("%flags -stdlib=libc++").find("libstdc++"), std::string::npos);
}

}  // namespace
}  // namespace px::cpp
