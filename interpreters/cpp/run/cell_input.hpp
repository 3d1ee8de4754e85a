#pragma once

#include <functional>
#include <memory>
#include <string>

#include "wire/error.hpp"

namespace px::cpp {

/// While one lives, std::cin and C's stdin (scanf, getchar ...) in cells read lines that somebody
/// is asked for. There is one at a time; only the thread that runs cells gets input, others the end
/// of the file.
class CellInput {
 public:
  /// The next line, without its end; "\x04" is the end of the file. The error is for the user: the
  /// cell ends with it, after "std::cin has no input here: ". It returns soon after an interrupt.
  using Ask = std::function<Result<std::string>()>;

  /// Where nobody can be asked: an engine.
  CellInput();
  ~CellInput();
  CellInput(CellInput&&) = delete;

  void set_ask(Ask ask);
  /// What the last cell left unread, and its failure to read, are not the next one's.
  void begin_cell();

 private:
  class Lines;
  std::unique_ptr<Lines> lines_;
};

}  // namespace px::cpp
