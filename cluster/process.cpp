#include <px/cluster/process.hpp>

#include <string.h>

#include <csignal>
#include <optional>
#include <utility>

namespace px {
namespace {

std::string explain(int signal) {
  switch (signal) {
    case SIGKILL:
      return ": kill -9, or the system was out of memory";
    case SIGSEGV:
      return ": a crash in compiled code";
    case SIGABRT:
      return ": it gave up by abort()";
    default:
      return "";
  }
}

}  // namespace

std::string signal_name(int signal) {
  const char* const abbreviation = ::sigabbrev_np(signal);
  return abbreviation ? "SIG" + std::string(abbreviation) : "signal " + std::to_string(signal);
}

std::string ProcessEnd::text() const {
  if (signal == 0) return "ended with exit code " + std::to_string(exit_code);
  return "was ended by " + signal_name(signal) + explain(signal);
}

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

}  // namespace px
