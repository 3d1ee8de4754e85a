#include "interpreters/cpp/run/captured_output.hpp"

#include <unistd.h>

#include <iostream>

#include "interpreters/cpp/guard/cell_guard.hpp"

namespace px::cpp {
namespace {

constexpr Duration between_looks_for_interrupts = std::chrono::milliseconds(50);

}  // namespace

/// A C++ stream's text: nothing is kept here. A process that a cell has made by fork() has no
/// thread that would send it: there it goes where it went before, to the descriptors, which lead to
/// the parent.
class CapturedOutput::StreamText final : public std::streambuf {
 public:
  StreamText(interpreters::Output& output, const char* name, std::ostream& stream)
      : output_(output), name_(name), stream_(stream), before_(stream.rdbuf(this)) {}
  ~StreamText() override { stream_.rdbuf(before_); }

 private:
  bool is_in_child() const { return getpid() != process_; }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    if (is_in_child()) return before_->sputn(text, count);
    while (!output_.wait_for_room(between_looks_for_interrupts))
      if (CellGuard::is_interrupt_pending()) break;
    output_.write(name_, {text, static_cast<std::size_t>(count)});
    return count;
  }
  int_type overflow(int_type character) override {
    if (traits_type::eq_int_type(character, traits_type::eof())) return 0;
    const char text = traits_type::to_char_type(character);
    xsputn(&text, 1);
    return character;
  }
  int sync() override { return is_in_child() ? before_->pubsync() : 0; }

  interpreters::Output& output_;
  const char* name_;
  std::ostream& stream_;
  std::streambuf* before_;
  const pid_t process_ = getpid();
};

CapturedOutput::CapturedOutput(interpreters::Output& output)
    : out_(std::make_unique<StreamText>(output, "stdout", std::cout)),
      error_(std::make_unique<StreamText>(output, "stderr", std::cerr)),
      log_(std::make_unique<StreamText>(output, "stderr", std::clog)) {}

CapturedOutput::~CapturedOutput() = default;

}  // namespace px::cpp
