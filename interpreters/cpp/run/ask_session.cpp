// CppSession answers questions about the names of its program.

#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/Preprocessor.h>

#include "interpreters/cpp/assist/completion.hpp"
#include "interpreters/cpp/assist/help.hpp"
#include "interpreters/cpp/assist/name_queries.hpp"
#include "interpreters/cpp/compile/forked_check.hpp"
#include "interpreters/cpp/run/session_state.hpp"
#include "wire/json.hpp"

namespace px::cpp {

std::optional<MacroBody> CppSession::State::macro(const std::string& name) {
  clang::Preprocessor& preprocessor = compiler->instance().getPreprocessor();
  const clang::MacroInfo* found = preprocessor.getMacroInfo(preprocessor.getIdentifierInfo(name));
  if (!found || found->isBuiltinMacro()) return std::nullopt;
  MacroBody body{found->isFunctionLike(), {}};
  for (const clang::Token& token : found->tokens())
    body.text += preprocessor.getSpelling(token) + " ";
  return body;
}

std::optional<MacroBody> CppSession::macro(const std::string& name) {
  return state_->macro(name);
}

CppSession::Completions CppSession::complete(const std::string& code, std::size_t cursor) {
  const CursorContext context = context_of_cursor(code, cursor);
  Completions found{{}, context.begin};
  const auto answer = ask_child([&]() -> std::optional<std::string> {
    Json list = Json::array();
    for (const Suggestion& each : suggestions_at(*state_->compiler, code, cursor, context))
      list.push_back({each.text, each.kind, each.signature});
    return pack(Packer::json, Json{{"suggestions", list}});
  });
  if (!answer) return found;
  const Result<Json> said = unpack(Packer::json, *answer);
  if (!said) return found;
  for (const Json& each : (*said)["suggestions"])
    found.suggestions.push_back({each[0], each[1], each[2]});
  return found;
}

std::optional<std::string> CppSession::inspect(const std::string& code, std::size_t cursor) {
  const CursorContext context = context_of_cursor(code, cursor);
  auto text = ask_child([&] { return help_at(*state_->compiler, code, cursor, context); });
  if (!text) text = ask_child([&] { return help_for_declared(*state_->compiler, code, context); });
  return text;
}

std::string CppSession::enumerator_of(const std::string& type, long long value) {
  return enumerator_name(*state_->compiler, type, value);
}

std::vector<std::string> CppSession::members_of(const std::string& type) {
  return member_names(*state_->compiler, type);
}

bool CppSession::is_defined(const std::string& name) {
  return find_name(*state_->compiler, name) != nullptr;
}

std::vector<std::string> CppSession::variables() {
  return variables_of_cells(*state_->compiler);
}

const void* CppSession::identity(const std::string& name) {
  return find_name(*state_->compiler, name);
}

}  // namespace px::cpp
