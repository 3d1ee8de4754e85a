#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace px::interpreters {

/// The number of bytes that are whole characters: all, except an unfinished character at the end,
/// whose rest has not arrived yet. Bytes that are not UTF-8 count as whole.
std::size_t whole_characters(std::string_view text);

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
