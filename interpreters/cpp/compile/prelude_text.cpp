#include "interpreters/cpp/compile/prelude_text.hpp"

namespace px::cpp {

const std::string& prelude_text() {
  static const std::string text =
#include <px_prelude_text.inc>
      ;
  return text;
}

}  // namespace px::cpp
