#include "os/command_words.hpp"

#include <cctype>
#include <optional>
#include <utility>

namespace px::os {

CommandWords split_words(std::string_view text, bool has_escapes) {
  CommandWords found;
  std::optional<std::string> word;
  char& quote = found.open_quote;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quote && std::isspace(static_cast<unsigned char>(c))) {
      if (word) found.words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (quote && c == quote) {
      quote = 0;
    } else if (!quote && (c == '\'' || c == '"')) {
      quote = c;
    } else if (has_escapes && c == '\\' && quote != '\'' && i + 1 < text.size()) {
      *word += text[++i];
    } else {
      *word += c;
    }
  }
  if (word) found.words.push_back(*word);
  return found;
}

}  // namespace px::os
