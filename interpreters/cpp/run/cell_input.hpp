#pragma once

#include <functional>
#include <memory>
#include <string>

#include "wire/error.hpp"

namespace px::cpp {

/// As long as it exists, std::cin and C's stdin (scanf, getchar ...) in cells read lines that the
/// user is asked for. There is one at a time; only the thread that runs cells gets input, others
/// the end of the file.
class CellInput {
 public:
  /// The next line, without its end; "\x04" means the end of the file. The error is for the user:
  /// the cell ends with it, after "std::cin has no input here: ". It returns soon after an
  /// interrupt.
  using Ask = std::function<Result<std::string>()>;

  /// Without a user to ask: an engine.
  CellInput();
  ~CellInput();
  CellInput(CellInput&&) = delete;

  void set_ask(Ask ask);
  /// Unread input of the last cell, and its failure to read, do not affect the next one.
  void begin_cell();

 private:
  class Lines;
  std::unique_ptr<Lines> lines_;
};

}  // namespace px::cpp
