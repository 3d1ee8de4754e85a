#include "interpreters/cpp/compile/prelude_text.hpp"

namespace px::cpp {

const std::string& prelude_text() {
  static const std::string text =
#include <px_prelude_text.inc>
      ;
  return text;
}

const std::string& standard_text() {
  static const std::string text =
#include <px_standard_text.inc>
      ;
  return text;
}

const std::string& base64_text() {
  static const std::string text =
#include <px_base64_text.inc>
      ;
  return text;
}

const std::vector<std::pair<std::string, std::string>>& built_in_headers() {
  static const std::string once = "#pragma once\n";
  static const std::string mime =
#include <px_mime_text.inc>
      ;
  static const std::string display =
#include <px_display_text.inc>
      ;
  static const std::vector<std::pair<std::string, std::string>> headers{
      {"xcpp/xdisplay.hpp", once + "#include <xcpp/xmime.hpp>\n" + display},
      {"xcpp/xmime.hpp", once + mime},
      {"xeus/xbase64.hpp", once + base64_text()},
      {"xtl/xbase64.hpp", once + "#include <xeus/xbase64.hpp>\n"}};
  return headers;
}

}  // namespace px::cpp
