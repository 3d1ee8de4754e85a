#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace px {

/// Joins characters of UTF-8 that were cut where one piece of text ended and the next began.
class Utf8Tail {
 public:
  /// What was kept and the text, without a character at its end that is not whole yet: it is kept.
  std::string whole(std::string_view text) {
    std::string all = rest();
    all += text;
    const std::size_t cut = all.size() - incomplete_bytes(all);
    kept_ = all.substr(cut);
    all.resize(cut);
    return all;
  }
  /// What is kept, whole or not.
  std::string rest() { return std::exchange(kept_, {}); }

 private:
  static std::size_t incomplete_bytes(std::string_view text) {
    for (std::size_t count = 1; count <= 3 && count <= text.size(); ++count) {
      const auto byte = static_cast<unsigned char>(text[text.size() - count]);
      if (byte < 0x80) return 0;
      if (byte >= 0xC0) {
        const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
        return length > count ? count : 0;
      }
    }
    return 0;
  }
  std::string kept_;
};

}  // namespace px
