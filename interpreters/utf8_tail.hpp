#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "interpreters/utf8.hpp"

namespace px::interpreters {

/// Joins characters of UTF-8 that were cut where one piece of text ended and the next began.
class Utf8Tail {
 public:
  /// What was kept and the text, without a character at its end that is not whole yet: it is kept.
  std::string whole(std::string_view text) {
    std::string all = rest();
    all += text;
    const std::size_t cut = whole_characters(all);
    kept_ = all.substr(cut);
    all.resize(cut);
    return all;
  }
  /// What is kept, whole or not.
  std::string rest() { return std::exchange(kept_, {}); }

 private:
  std::string kept_;
};

}  // namespace px::interpreters
