#include "interpreters/cpp/assist/completion_text.hpp"

#include <regex>

namespace px::cpp {
namespace {

using String = clang::CodeCompletionString;

void append(const String& completion, std::string& text, std::string* current) {
  for (const String::Chunk& chunk : completion) {
    switch (chunk.Kind) {
      case String::CK_Optional:
        append(*chunk.Optional, text, current);
        break;
      case String::CK_ResultType:
        text += std::string(chunk.Text) + " ";
        break;
      case String::CK_CurrentParameter:
        if (current) *current = chunk.Text;
        text += chunk.Text;
        break;
      case String::CK_VerticalSpace:
        text += ' ';
        break;
      default:
        text += chunk.Text;
    }
  }
}

}  // namespace

std::string signature_of(const String& completion) {
  std::string result, rest;
  bool is_behind_name = false;
  for (const String::Chunk& chunk : completion) {
    if (chunk.Kind == String::CK_ResultType) result = chunk.Text;
    if (chunk.Kind == String::CK_Optional && is_behind_name)
      append(*chunk.Optional, rest, nullptr);
    else if (is_behind_name && chunk.Kind != String::CK_TypedText)
      rest += chunk.Text;
    if (chunk.Kind == String::CK_TypedText) is_behind_name = true;
  }
  if (rest.find('(') == rest.npos) return with_plain_parameters(result.empty() ? rest : result);
  return with_plain_parameters(rest + (result.empty() ? "" : " -> " + result));
}

std::string whole_text(const String& completion, std::string& current) {
  std::string text;
  append(completion, text, &current);
  current = with_plain_parameters(current);
  return with_plain_parameters(text);
}

std::string with_plain_parameters(const std::string& text) {
  // Behind a type and before the end of the parameter; types stand elsewhere.
  static const std::regex name(R"(([\w>&*\]] ?|\.\.\.)\b__?([a-z]\w*)(?=\s*(?:[,)=\[]|$)))");
  return std::regex_replace(text, name, "$1$2");
}

}  // namespace px::cpp
