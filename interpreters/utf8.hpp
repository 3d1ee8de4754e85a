#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace px::interpreters {

/// How many of the bytes are whole characters: all, but for the beginning of a character at the
/// end, whose rest is still to come. What is not UTF-8 at all counts as whole.
std::size_t whole_characters(std::string_view text);

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
