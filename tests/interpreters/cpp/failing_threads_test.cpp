#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

using Kind = CellOutcome::Ending;

class FailingThreads : public NotebookTest {
 protected:
  void SetUp() override {
    runs(
        "#include <stdexcept>\n#include <thread>\n#include <future>\n#include <cstdlib>\n"
        "#include <unistd.h>\n#include <sys/wait.h>\n#include <pthread.h>\nint before = 1;");
  }
  void expect_session_holds() {
    runs("int after = 0; { std::thread t([] { after = 20; }); t.join(); }");
    EXPECT_EQ(value("after + before"), 21);
  }
};

TEST_F(FailingThreads, FailTheCellByAnException) {
  CellOutcome outcome =
      fails("{ std::thread t([] { throw std::runtime_error(\"too long\"); }); t.join(); }",
            Kind::exception);
  EXPECT_EQ(outcome.error_name, "std::runtime_error");
  EXPECT_EQ(outcome.error_value, "in a thread: too long");
  expect_session_holds();
  outcome = fails("std::thread worker([] { throw 3; }); worker.join();", Kind::exception);
  EXPECT_EQ(outcome.error_name, "int");
  expect_session_holds();
}

TEST_F(FailingThreads, EndALoopOfTheCell) {
  const CellOutcome outcome =
      fails("{ std::jthread t([] { throw std::runtime_error(\"gone\"); }); for (;;) {} }",
            Kind::exception);
  EXPECT_EQ(outcome.error_value, "in a thread: gone");
  expect_session_holds();
}

TEST_F(FailingThreads, FailTheCellByASignal) {
  CellOutcome outcome = fails(
      "{ std::thread t([] { volatile int* p = nullptr; *p = 1; }); t.join(); }", Kind::crashed);
  EXPECT_EQ(outcome.error_name, "Crashed");
  EXPECT_NE(outcome.error_value.find("SIGSEGV"), std::string::npos) << said(outcome);
  outcome = fails("{ std::thread t([] { std::abort(); }); t.join(); }", Kind::crashed);
  EXPECT_NE(outcome.error_value.find("SIGABRT"), std::string::npos) << said(outcome);
  outcome = fails("{ std::thread t([]() noexcept { throw 1; }); t.join(); }", Kind::crashed);
  EXPECT_NE(outcome.error_value.find("std::terminate: int (1)"), std::string::npos)
      << said(outcome);
  runs("int deep(volatile int n) { volatile char p[512]; p[0] = 1; return deep(n + 1) + p[0]; }");
  outcome = fails("{ std::thread t([] { before = deep(0); }); t.join(); }", Kind::crashed);
  EXPECT_NE(outcome.error_value.find("Stack overflow"), std::string::npos) << said(outcome);
  expect_session_holds();
}

TEST_F(FailingThreads, FailTheCellByExit) {
  for (const char* call : {"exit(3)", "_exit(3)", "std::quick_exit(3)", "std::_Exit(3)"}) {
    const CellOutcome outcome =
        fails(std::string("{ std::thread t([] { ") + call + "; }); t.join(); }", Kind::crashed);
    EXPECT_EQ(outcome.error_name, "Exited");
    fails(std::string(call) + ";", Kind::crashed);
  }
  expect_session_holds();
}

TEST_F(FailingThreads, OfThePosixLibraryFailTheCellToo) {
  const CellOutcome outcome = fails(
      "{ pthread_t t; pthread_create(&t, nullptr, [](void*) -> void* { throw 5; }, nullptr);"
      " pthread_join(t, nullptr); }",
      Kind::exception);
  EXPECT_EQ(outcome.error_value, "in a thread: 5");
  runs(
      "long got = 0; { pthread_t t; void* result = nullptr;"
      " pthread_create(&t, nullptr, [](void* p) -> void* { pthread_exit(p); }, (void*)7);"
      " pthread_join(t, &result); got = (long)result; }");
  EXPECT_EQ(value("got"), 7);
  expect_session_holds();
}

TEST_F(FailingThreads, OfAnEarlierCellLeaveLaterOnesAlone) {
  runs(
      "#include <atomic>\nstd::atomic<int> stage = 0;"
      "std::thread late([] { while (stage == 0) {} stage = 2; throw 1; });");
  runs("stage = 1; while (stage != 2) {} late.join(); before = 5;");
  EXPECT_EQ(value("before"), 5);
}

TEST_F(FailingThreads, GiveTheirExceptionToAFuture) {
  runs("auto later = std::async(std::launch::async, []() -> int { throw 8; });");
  EXPECT_EQ(fails("later.get();", Kind::exception).error_name, "int");
  expect_session_holds();
}

TEST_F(FailingThreads, SayWhyTheCellWasTerminated) {
  CellOutcome outcome = fails("{ std::thread t([] {}); }", Kind::crashed);
  EXPECT_NE(outcome.error_value.find("before join()"), std::string::npos) << said(outcome);
  outcome = fails("void never() noexcept { throw 1; } never();", Kind::crashed);
  EXPECT_NE(outcome.error_value.find("int (1) was thrown"), std::string::npos) << said(outcome);
  expect_session_holds();
}

TEST_F(FailingThreads, ChildrenOfTheCellEndAsProcessesDo) {
  const auto status = [&](const std::string& work) {
    runs("int status = 0; { const pid_t child = fork(); if (child == 0) { " + work +
         " } waitpid(child, &status, 0); }");
    return value("WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)");
  };
  EXPECT_EQ(status("exit(3);"), 3);
  EXPECT_EQ(status("_exit(4);"), 4);
  EXPECT_EQ(status("volatile int* p = nullptr; *p = 1;"), -11);
  EXPECT_EQ(status("throw 1;"), 1);
  runs("{ const pid_t child = fork(); if (child != 0) { waitpid(child, &status, 0); } }");
  EXPECT_EQ(value("status"), 0);
  expect_session_holds();
}

}  // namespace
}  // namespace px::cpp
