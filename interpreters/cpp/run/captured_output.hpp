#pragma once

#include <memory>

#include "interpreters/interpreter.hpp"

namespace px::cpp {

/// While one lives, what this process prints to std::cout, std::cerr and std::clog goes to an
/// Output, piece by piece, so that it stays in order with all else there. Who prints faster than
/// the Output takes it waits, until an interrupt. There is one at a time. What is written to the
/// descriptors 1 and 2 is not its business: see interpreters/descriptor_capture.
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
