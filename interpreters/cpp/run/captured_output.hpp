#pragma once

#include <memory>

#include "interpreters/interpreter.hpp"

namespace px::cpp {

/// As long as it exists, output of this process to std::cout, std::cerr and std::clog goes to an
/// Output, piece by piece, so that it stays in order with other output there. A thread that prints
/// faster than the Output accepts waits, until an interrupt. There is one at a time. Output to the
/// descriptors 1 and 2 is not included: see interpreters/descriptor_capture.
class CapturedOutput {
 public:
  explicit CapturedOutput(interpreters::Output& output);
  ~CapturedOutput();
  CapturedOutput(CapturedOutput&&) = delete;

 private:
  class StreamText;
  std::unique_ptr<StreamText> out_, error_, log_;
};

}  // namespace px::cpp
