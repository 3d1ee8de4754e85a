#include "interpreters/cpp/run/cell_input.hpp"

#include <pthread.h>
#include <stdio_ext.h>

#include <cstdio>
#include <iostream>
#include <streambuf>
#include <utility>

#include "interpreters/cpp/guard/cell_failure.hpp"
#include "interpreters/cpp/guard/cell_guard.hpp"

// Of the C library, which declares them for C alone.
extern "C" void _pthread_cleanup_push(_pthread_cleanup_buffer* buffer, void (*routine)(void*),
                                      void* argument);
extern "C" void _pthread_cleanup_pop(_pthread_cleanup_buffer* buffer, int executes);

namespace px::cpp {
namespace {

constexpr const char* end_of_file = "\x04";

Result<std::string> refuse() {
  return Error{ErrorKind::unsupported,
               "cells on engines cannot ask the user; push the value instead, for example "
               "view.push({\"x\": 1})"};
}

/// Does what C's functions have noted for the end of their thread, such as to unlock a file: they lie
/// on their stack, which is about to go, and siglongjmp() would call them as well. On this thread.
void do_cleanups_of_c() {
  _pthread_cleanup_buffer first{};
  _pthread_cleanup_push(&first, [](void*) {}, nullptr);
  _pthread_cleanup_buffer* noted = first.__prev;
  _pthread_cleanup_pop(&first, 0);
  while (noted) {
    _pthread_cleanup_buffer* const next = noted->__prev;
    _pthread_cleanup_pop(noted, 1);
    noted = next;
  }
}

}  // namespace

/// The lines for std::cin, and for C's stdin: that takes one character at a time, so that a cell
/// may read one line by both.
class CellInput::Lines final : public std::streambuf {
 public:
  Lines()
      : before_(std::cin.rdbuf(this)),
        exceptions_(std::cin.exceptions()),
        file_(::fopencookie(this, "r", {read_for_c, nullptr, nullptr, nullptr})),
        file_before_(stdin) {
    check(file_ != nullptr);
    std::setvbuf(file_, nullptr, _IONBF, 0);
    stdin = file_;
  }
  ~Lines() override {
    stdin = file_before_;
    std::fclose(file_);
    std::cin.exceptions(exceptions_);
    std::cin.rdbuf(before_);
  }

  void set_ask(Ask ask) { ask_ = std::move(ask); }
  void begin_cell() {
    line_.clear();
    setg(nullptr, nullptr, nullptr);
    std::cin.clear();
    std::cin.exceptions(std::ios::badbit);  // lets the exceptions of underflow() through
    ::__fpurge(file_);
    std::clearerr(file_);
  }

 private:
  int_type underflow() override {
    if (!CellGuard::is_cell_running()) return traits_type::eof();
    std::cout.flush();
    CellGuard::hold_jumps(true);  // an interrupt is answered below
    Result<std::string> line = ask_();
    CellGuard::hold_jumps(false);
    if (CellGuard::is_interrupt_pending())
      CellGuard::answer_interrupt_in(std::string("in ") + reader_);
    if (!line) throw NoInput(std::string(reader_) + " has no input here: " + line.error().what);
    if (*line == end_of_file) return traits_type::eof();
    line_ = *line + "\n";
    setg(line_.data(), line_.data(), line_.data() + line_.size());
    return traits_type::to_int_type(line_[0]);
  }

  /// What the user is told passes scanf() and its like as an exception.
  static ssize_t read_for_c(void* self, char* to, std::size_t) {
    auto& lines = *static_cast<Lines*>(self);
    lines.reader_ = "stdin";
    struct Restored {
      Lines& lines;
      ~Restored() { lines.reader_ = "std::cin"; }
    } const restored{lines};
    int_type next{};
    try {
      next = lines.sbumpc();
    } catch (...) {
      do_cleanups_of_c();
      throw;
    }
    if (traits_type::eq_int_type(next, traits_type::eof())) return 0;
    *to = traits_type::to_char_type(next);
    return 1;
  }

  const char* reader_ = "std::cin";
  Ask ask_ = refuse;
  std::string line_;
  std::streambuf* before_;
  std::ios::iostate exceptions_;
  std::FILE* const file_;
  std::FILE* const file_before_;
};

CellInput::CellInput() : lines_(std::make_unique<Lines>()) {}

CellInput::~CellInput() = default;

void CellInput::set_ask(Ask ask) {
  lines_->set_ask(std::move(ask));
}

void CellInput::begin_cell() {
  lines_->begin_cell();
}

}  // namespace px::cpp
