#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

using Kind = CellOutcome::Ending;

class ThreadLocals : public NotebookTest {};

TEST_F(ThreadLocals, OfTheLibraryAreThoseOfTheProcess) {
  runs("#include <future>\n#include <mutex>\n#include <string>\n#include <vector>");
  runs("auto later = std::async(std::launch::async, [] { return 42; });");
  EXPECT_EQ(value("later.get()"), 42);
  runs("std::once_flag once; int calls = 0;");
  runs("for (int i = 0; i < 3; ++i) std::call_once(once, [] { ++calls; });");
  EXPECT_EQ(value("calls"), 1);
  runs("std::promise<int> promise; auto promised = promise.get_future(); promise.set_value(7);");
  EXPECT_EQ(value("promised.get()"), 7);
  runs("std::packaged_task<int(int)> task([](int n) { return 2 * n; });");
  runs("auto done = task.get_future(); std::thread worker(std::move(task), 4); worker.join();");
  EXPECT_EQ(value("done.get()"), 8);
}

TEST_F(ThreadLocals, HaveACopyInEachThread) {
  runs("#include <thread>\nthread_local int mine = 5;");
  runs("int theirs = 0;");
  runs(
      "{ mine = 6; std::thread t([] { theirs = mine++; theirs = theirs * 10 + mine; }); t.join(); "
      "}");
  EXPECT_EQ(value("mine * 100 + theirs"), 656);
  runs("double mine = 1.5;");
  EXPECT_EQ(value("mine"), 1.5);
  runs("thread_local long mine = 9;");
  EXPECT_EQ(value("mine"), 9);
}

TEST_F(ThreadLocals, OfTemplatesAreOneThingInAllCells) {
  runs(
      "#include <string>\n#include <thread>\n"
      "template <class T> struct Counter {"
      "  static thread_local int count; static thread_local std::string text; };"
      "template <class T> thread_local int Counter<T>::count = 10;"
      "template <class T> thread_local std::string Counter<T>::text = \"abc\";");
  runs("Counter<int>::count += 1; Counter<int>::text += \"d\";");
  runs("Counter<int>::count += 1; Counter<int>::text += \"e\";");
  EXPECT_EQ(value("Counter<int>::count * 10 + Counter<int>::text.size()"), 125);
  runs("int seen = 0;");
  runs(
      "{ std::thread t([] { seen = Counter<int>::count + Counter<int>::text.size(); }); t.join(); "
      "}");
  EXPECT_EQ(value("seen"), 13);
}

TEST_F(ThreadLocals, InFunctionsAreMadeAndDestroyedForEachThread) {
  runs(
      "#include <thread>\n#include <atomic>\n"
      "std::atomic<int> alive = 0, made = 0;"
      "struct Thing { int v = 3; Thing() { ++alive; ++made; } ~Thing() { --alive; } };"
      "inline int next() { thread_local Thing thing; return ++thing.v; }");
  runs("int sum = 0; { std::thread t([] { next(); sum = next(); }); t.join(); }");
  runs("{ std::thread t([] { next(); sum = sum * 10 + next(); }); t.join(); }");
  EXPECT_EQ(value("sum"), 55);
  EXPECT_EQ(value("alive * 10 + made"), 2);
  EXPECT_EQ(value("next()"), 4);
  EXPECT_EQ(value("next()"), 5);
}

TEST_F(ThreadLocals, AreInitializedInAllThreadsBeforeTheirUse) {
  runs("#include <string>\n#include <thread>\nstd::string name() { return \"thread\"; }");
  runs("thread_local std::string text = name(); thread_local const std::string* self = &text;");
  runs("std::string seen; text += \"!\";");
  runs("{ std::thread t([] { seen = text; if (self == &text) seen += \"=\"; }); t.join(); }");
  EXPECT_EQ(value("seen == \"thread=\""), 1);
  EXPECT_EQ(value("text == \"thread!\""), 1);
}

class UnlinkedCells : public NotebookTest {};

// What the check of a cell does not see: the processor's own language.
TEST_F(UnlinkedCells, LeaveEverythingToLaterCells) {
  runs("#include <string>\n#include <vector>\nstd::string a = \"x\"; std::vector<short> v;");
  const CellOutcome outcome = fails(
      "struct Base { virtual int get() { return 1; } virtual ~Base() {} };"
      "std::string both = a + \"y\"; v.push_back(3); int got = Base().get();"
      "{ asm volatile(\"call px_nobody_has_this\"); }",
      Kind::compile_error);
  EXPECT_EQ(outcome.error_name, "LinkError") << said(outcome);
  runs("v.push_back(4); std::string both = a + \"y\";");
  EXPECT_EQ(value("both.size() * 10 + v.size()"), 21);
  runs("struct Base { virtual int get() { return 2; } virtual ~Base() {} };");
  EXPECT_EQ(value("Base().get()"), 2);
  fails("int never = 0; { asm volatile(\"call px_nobody_has_this\"); }", Kind::compile_error);
  runs("try { throw 1; } catch (int) {}");
  EXPECT_FALSE(session().is_defined("never"));
}

}  // namespace
}  // namespace px::cpp
