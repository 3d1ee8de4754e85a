#include <fcntl.h>
#include <poll.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

#include "interpreters/cpp/cells/utf8_tail.hpp"
#include "interpreters/cpp/run/captured_output.hpp"

namespace px::cpp {
namespace {

constexpr std::array stream_names = {"stdout", "stderr"};

/// A descriptor of this process that leads into a pipe, and the pipe's other end.
class Diversion {
 public:
  explicit Diversion(int descriptor) : descriptor_(descriptor) {
    std::fflush(stdout);  // what was printed before goes where it went before
    int ends[2];
    check(::pipe2(ends, O_CLOEXEC) == 0);
    original_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    check(original_ >= 0 && ::dup2(ends[1], descriptor) >= 0);
    ::close(ends[1]);
    reading_ = ends[0];
    ::fcntl(reading_, F_SETFL, O_NONBLOCK);
  }
  ~Diversion() {
    put_back();
    ::close(reading_);
    ::close(original_);
  }
  void put_back() { ::dup2(original_, descriptor_); }
  int reading() const { return reading_; }
  int original() const { return original_; }

 private:
  int descriptor_, original_ = -1, reading_ = -1;
};

}  // namespace

/// Descriptors 1 and 2, and the thread that reads what is written to them.
class CapturedOutput::Pipes {
 public:
  explicit Pipes(interpreters::Output& output)
      : output_(output), diversions_{Diversion(1), Diversion(2)} {
    check(::pipe2(end_, O_CLOEXEC) == 0);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // it was made for what descriptor 1 led to before
    reader_ = std::thread([this] { read_until_end(); });
  }
  ~Pipes() {
    std::fflush(stdout);
    for (Diversion& diversion : diversions_) diversion.put_back();
    ::close(end_[1]);
    reader_.join();
    ::close(end_[0]);
    drain(true);
  }

  /// Passes on what has been written so far.
  void drain(bool is_end = false) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < diversions_.size(); ++i) {
      char buffer[1 << 16];
      for (ssize_t count; (count = ::read(diversions_[i].reading(), buffer, sizeof buffer)) > 0;)
        pass_on(i, tails_[i].whole({buffer, static_cast<std::size_t>(count)}));
      if (is_end) pass_on(i, tails_[i].rest());
    }
  }

  /// The same, where there is something: called before each piece of text of a C++ stream.
  void drain_if_any() {
    if (__fpending(stdout) > 0) std::fflush(stdout);
    pollfd waits[] = {{diversions_[0].reading(), POLLIN, 0}, {diversions_[1].reading(), POLLIN, 0}};
    if (::poll(waits, 2, 0) > 0) drain();
  }

  int original(int descriptor) const {
    return diversions_[static_cast<std::size_t>(descriptor) - 1].original();
  }
  interpreters::Output& output() { return output_; }

 private:
  void pass_on(std::size_t i, const std::string& text) {
    if (!text.empty()) output_.write(stream_names[i], text);
  }

  void read_until_end() {
    for (;;) {
      pollfd waits[] = {{diversions_[0].reading(), POLLIN, 0},
                        {diversions_[1].reading(), POLLIN, 0},
                        {end_[0], POLLIN, 0}};
      if (::poll(waits, 3, -1) < 0) continue;
      if (waits[2].revents) return;
      drain();
    }
  }

  interpreters::Output& output_;
  std::mutex mutex_;  // of what is read, so that it is passed on in its order
  std::array<Diversion, 2> diversions_;
  std::array<Utf8Tail, 2> tails_;
  int end_[2] = {-1, -1};
  std::thread reader_;
};

/// A C++ stream's text, piece by piece: nothing waits here, so that all stays in order.
class CapturedOutput::StreamText final : public std::streambuf {
 public:
  StreamText(Pipes& pipes, const char* name, std::ostream& stream)
      : pipes_(pipes), name_(name), stream_(stream), before_(stream.rdbuf(this)) {}
  ~StreamText() override { stream_.rdbuf(before_); }

 private:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    pipes_.drain_if_any();
    pipes_.output().write(name_, {text, static_cast<std::size_t>(count)});
    return count;
  }
  int_type overflow(int_type character) override {
    if (traits_type::eq_int_type(character, traits_type::eof())) return 0;
    const char text = traits_type::to_char_type(character);
    xsputn(&text, 1);
    return character;
  }

  Pipes& pipes_;
  const char* name_;
  std::ostream& stream_;
  std::streambuf* before_;
};

CapturedOutput::CapturedOutput(interpreters::Output& output)
    : pipes_(std::make_unique<Pipes>(output)),
      out_(std::make_unique<StreamText>(*pipes_, "stdout", std::cout)),
      error_(std::make_unique<StreamText>(*pipes_, "stderr", std::cerr)),
      log_(std::make_unique<StreamText>(*pipes_, "stderr", std::clog)) {}

CapturedOutput::~CapturedOutput() {
  out_.reset(), error_.reset(), log_.reset();
}

void CapturedOutput::flush() {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(stdout);
  pipes_->drain(true);
}

int CapturedOutput::original(int descriptor) const {
  return pipes_->original(descriptor);
}

}  // namespace px::cpp
