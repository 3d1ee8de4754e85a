#include <px/interpreters/cpp/prelude_text.hpp>

namespace px {

const std::string& prelude_text() {
  static const std::string text =
#include <px_prelude_text.inc>
      ;
  return text;
}

}  // namespace px
