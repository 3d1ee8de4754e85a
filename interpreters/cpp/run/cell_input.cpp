#include "interpreters/cpp/run/cell_input.hpp"

#include <iostream>
#include <streambuf>
#include <utility>

#include "interpreters/cpp/run/cell_guard.hpp"

namespace px::cpp {
namespace {

constexpr const char* end_of_file = "\x04";

Result<std::string> refuse() {
  return Error{ErrorKind::unsupported,
               "std::cin has no input here: cells of engines cannot ask the user; push the value "
               "instead, for example view.push({\"x\": 1})"};
}

}  // namespace

class CellInput::Lines final : public std::streambuf {
 public:
  Lines() : before_(std::cin.rdbuf(this)), exceptions_(std::cin.exceptions()) {}
  ~Lines() override {
    std::cin.exceptions(exceptions_);
    std::cin.rdbuf(before_);
  }

  void set_ask(Ask ask) { ask_ = std::move(ask); }
  void begin_cell() {
    line_.clear();
    setg(nullptr, nullptr, nullptr);
    std::cin.clear();
    std::cin.exceptions(std::ios::badbit);  // lets the exceptions of underflow() through
  }

 private:
  int_type underflow() override {
    if (!CellGuard::is_cell_running()) return traits_type::eof();
    std::cout.flush();
    CellGuard::hold_jumps(true);  // an interrupt is answered below
    Result<std::string> line = ask_();
    CellGuard::hold_jumps(false);
    if (CellGuard::is_interrupt_pending()) CellGuard::answer_interrupt_in("in std::cin");
    if (!line) throw NoInput(line.error().what);
    if (*line == end_of_file) return traits_type::eof();
    line_ = *line + "\n";
    setg(line_.data(), line_.data(), line_.data() + line_.size());
    return traits_type::to_int_type(line_[0]);
  }

  Ask ask_ = refuse;
  std::string line_;
  std::streambuf* before_;
  std::ios::iostate exceptions_;
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
