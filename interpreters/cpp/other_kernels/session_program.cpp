#include "interpreters/cpp/other_kernels/session_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>

#include "interpreters/cpp/cells/code_mask.hpp"
#include "interpreters/cpp/cells/code_statements.hpp"
#include "interpreters/cpp/compile/llvm_files.hpp"
#include "interpreters/cpp/compile/prelude_text.hpp"
#include "os/run_command.hpp"

namespace px::cpp {
namespace {

/// With one blank for each row of them, up to the first of `ends`.
std::string head_of(std::string_view text, std::string_view ends) {
  std::string head;
  for (const char each : text.substr(0, text.find_first_of(ends))) {
    const bool is_blank = std::isspace(static_cast<unsigned char>(each)) != 0;
    if (!is_blank)
      head += each;
    else if (!head.empty() && head.back() != ' ')
      head += ' ';
  }
  while (!head.empty() && head.back() == ' ') head.pop_back();
  return head;
}

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() ||
          (std::isalnum(static_cast<unsigned char>(text[word.size()])) == 0 &&
           text[word.size()] != '_'));
}

bool is_space(std::string_view text) {
  return begins_with_word(text, "namespace") || text.starts_with("inline namespace") ||
         text.starts_with("extern \"");
}

/// What two texts have in common of which the later one replaces the earlier; nothing for a
/// statement that a program cannot have outside of functions.
std::optional<std::string> key_of(const CodeStatement& statement, std::string_view text) {
  switch (statement.kind) {
    case StatementKind::directive:
      return std::string(text);
    case StatementKind::block:
      if (is_space(text)) return std::string(text);
      return std::nullopt;
    case StatementKind::function:
      return head_of(text, "{;");
    case StatementKind::declaration:
      if (!statement.name.empty()) return "variable " + std::string(statement.name);
      return head_of(text, begins_with_word(text, "using") ? ";" : "{;:=");
    case StatementKind::other:
      if (!is_declaration(text)) return std::nullopt;
      return statement.name.empty() ? std::string(text) : "variable " + std::string(statement.name);
  }
  return std::nullopt;
}

/// Headers that are only in cells: what they show has no place in a program; base64 is put there.
std::string in_program(const std::string& directive) {
  for (const auto& [name, text] : built_in_headers()) {
    if (directive.find(name) == directive.npos || directive.find("include") == directive.npos)
      continue;
    return name.starts_with("xcpp/") ? std::string() : base64_text();
  }
  return directive;
}

struct Piece {
  CodeStatement statement;
  std::string text;
};

std::vector<Piece> pieces_of(const std::string& code, const std::string& masked) {
  std::vector<Piece> pieces;
  for (const CodeStatement& each : split_statements(masked)) {
    if (each.is_open) continue;
    std::string text = code.substr(each.begin, each.end - each.begin);
    if (each.kind == StatementKind::directive) {
      while (text.ends_with('\n')) text.pop_back();
      text = in_program(text);
      if (text.empty()) continue;
    }
    if (each.kind != StatementKind::directive && !each.is_ended) text += ";";
    pieces.push_back({each, std::move(text)});
  }
  return pieces;
}

}  // namespace

void SessionProgram::add(const std::string& code) {
  const std::string masked = mask_code(code).text;
  for (Piece& each : pieces_of(code, masked)) {
    const bool is_tail = each.statement.kind == StatementKind::other && !each.statement.is_ended;
    const auto key = is_tail ? std::nullopt : key_of(each.statement, each.text);
    if (!key) continue;
    const auto old = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const auto& part) { return part.first == *key; });
    if (old != parts_.end())
      old->second = std::move(each.text);
    else
      parts_.emplace_back(*key, std::move(each.text));
  }
}

std::string SessionProgram::with_main(const std::string& code) const {
  std::string text = standard_text() + "\n";
  for (const auto& [key, part] : parts_) text += part + "\n";
  const std::string masked = mask_code(code).text;
  const auto pieces = pieces_of(code, masked);
  const bool has_main = std::any_of(pieces.begin(), pieces.end(), [](const Piece& each) {
    return each.statement.kind == StatementKind::function && each.statement.name == "main";
  });
  if (has_main) return text + "#line 1 \"the cell\"\n" + code + "\n";
  std::string body;
  for (const Piece& each : pieces) {
    const bool is_outside = each.statement.kind == StatementKind::directive ||
                            each.statement.kind == StatementKind::function || is_space(each.text) ||
                            begins_with_word(each.text, "template");
    (is_outside ? text : body) += each.text + "\n";
  }
  return text + "#line 1 \"main\"\nint main() {\n" + body + "}\n";
}

Result<void> make_program(const ProgramRequest& request) {
  const LlvmFiles& llvm = llvm_files();
  if (llvm.compiler.empty())
    return Error{ErrorKind::unsupported, "%%executable needs clang++: install clang-22."};
  const std::string draft = request.file + "." + std::to_string(getpid()) + ".tmp";
  std::vector<std::string> command{llvm.compiler, "-x",  "c++",           "-",
                                   "-o",          draft, "-resource-dir", llvm.resource_folder};
  command.insert(command.end(), request.flags.begin(), request.flags.end());
  const auto done = os::run_command({.argv = command,
                                     .input = request.text,
                                     .timeout = std::chrono::seconds(300),
                                     .merges_errors = true});
  if (!done) return done.error();
  std::error_code failure;
  if (done->end.is_failure()) {
    std::filesystem::remove(draft, failure);
    return Error{ErrorKind::bad_input, done->output};
  }
  std::filesystem::rename(draft, request.file, failure);
  if (!failure) return {};
  return Error{ErrorKind::system, "cannot write " + request.file + ": " + failure.message()};
}

}  // namespace px::cpp
