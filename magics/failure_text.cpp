#include "magics/failure_text.hpp"

#include <cctype>
#include <optional>
#include <string_view>

#include "magics/label.hpp"

namespace px::magics {
namespace {

std::string message_of(const client::Failure& failure) {
  return failure.value.empty() ? failure.name : failure.name + ": " + failure.value;
}

std::vector<std::string> lines_of(const std::vector<std::string>& parts) {
  std::vector<std::string> lines;
  for (const std::string& part : parts) {
    for (std::size_t begin = 0; begin <= part.size();) {
      const std::size_t end = std::min(part.find('\n', begin), part.size());
      lines.push_back(part.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return lines;
}

/// The traceback without the message at its end, which stands in the heading.
std::string body_of(const client::Failure& failure) {
  std::vector<std::string> lines = lines_of(failure.traceback);
  const std::vector<std::string> message = lines_of({message_of(failure)});
  const auto is_message = [&] {
    if (lines.size() < message.size()) return false;
    for (std::size_t i = 0; i < message.size(); ++i)
      if (without_colours(lines[lines.size() - message.size() + i]) != message[i]) return false;
    return true;
  };
  if (is_message()) lines.resize(lines.size() - message.size());
  while (!lines.empty() && without_colours(lines.back()).empty()) lines.pop_back();
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Where the number of a cell stands that is named at this place: "In[3]", "In [3]", "cell 3".
std::optional<std::size_t> number_of_cell(const std::string& text, std::size_t at) {
  for (const std::string_view name : {"In[", "In ", "cell "})
    if (text.compare(at, name.size(), name) == 0) return at + name.size();
  return std::nullopt;
}

/// A text without what differs between engines that fail alike: the numbers of their cells.
std::string normalized(const std::string& traceback) {
  const std::string text = without_colours(traceback);
  std::string same;
  for (std::size_t at = 0; at < text.size(); ++at) {
    same.push_back(text[at]);
    const auto number = number_of_cell(text, at);
    if (!number) continue;
    std::size_t digits = *number;
    if (digits < text.size() && text[digits] == '[') ++digits;
    while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
    const bool is_closed = digits < text.size() && text[digits] == ']';
    if (is_closed || text[at] == 'c') at = is_closed ? digits : digits - 1;
  }
  return same;
}

}  // namespace

std::string FailureText::key(const client::Failure& failure) {
  return normalized(message_of(failure) + "\n" + body_of(failure));
}

std::string FailureText::describe(const std::vector<EngineId>& engines,
                                  const client::Failure& failure) {
  const std::string label = "[" + short_names(engines) + "]";
  const std::string heading = label + " " + message_of(failure);
  const std::string body = body_of(failure);
  if (body.empty()) return heading + "\n";
  const auto [found, is_new] = shown_.try_emplace(normalized(body), label);
  if (!is_new) return heading + " (same traceback as " + found->second + ")\n";
  return heading + "\n" + body;
}

}  // namespace px::magics
