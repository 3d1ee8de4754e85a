#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "interpreters/utf8.hpp"

namespace px::interpreters {

/// Joins UTF-8 characters that were split between one piece of text and the next.
class Utf8Tail {
 public:
  /// The kept bytes and the text, without an unfinished character at its end, which is kept.
  std::string whole(std::string_view text) {
    std::string all = rest();
    all += text;
    const std::size_t cut = whole_characters(all);
    kept_ = all.substr(cut);
    all.resize(cut);
    return all;
  }
  /// The kept bytes, whole or not.
  std::string rest() { return std::exchange(kept_, {}); }

 private:
  std::string kept_;
};

}  // namespace px::interpreters
