#pragma once

#include <memory>

#include "interpreters/interpreter.hpp"

namespace px::cpp {

/// While one lives, what this process prints goes to an Output, live: std::cout, std::cerr and
/// std::clog directly, and what is written to the descriptors 1 and 2 (printf, libraries, child
/// processes) through pipes and a thread that reads them. Text of one thread stays in its order,
/// but between the two descriptors. There is one at a time.
class CapturedOutput {
 public:
  explicit CapturedOutput(interpreters::Output& output);
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  /// All that was printed before is with the Output when this returns.
  void flush();
  /// Where descriptor 1 or 2 led before: for the log of this process.
  int original(int descriptor) const;

 private:
  class Pipes;
  class StreamText;
  std::unique_ptr<Pipes> pipes_;
  std::unique_ptr<StreamText> out_, error_, log_;
};

}  // namespace px::cpp
