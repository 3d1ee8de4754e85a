#include "cluster/supervise/process.hpp"

#include <optional>
#include <utility>

namespace px::cluster {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (quote && c == quote) {
      quote = 0;
    } else if (!quote && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      *word += text[++i];
    } else {
      *word += c;
    }
  }
  if (word) words.push_back(*word);
  return words;
}

}  // namespace px::cluster
