#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace px::cpp {

enum class StatementKind {
  directive,    ///< A preprocessor directive.
  block,        ///< { }, if, for, while, do, switch, try, namespace, extern "C" { }
  function,     ///< The definition of a function, its body included.
  declaration,  ///< Begins with a word with which no expression begins.
  other,        ///< An expression, or the declaration of a variable.
};

/// One statement at the top level of a cell.
struct CodeStatement {
  StatementKind kind = StatementKind::other;
  std::size_t begin = 0, end = 0;  ///< In bytes, the semicolon included.
  bool is_ended = false;           ///< By its semicolon, or by its brace if it needs no semicolon.
  bool is_open = false;            ///< A bracket in it is not closed.
  std::string_view name = {};      ///< The function or variable that it seems to define.
};

/// Splits masked code (mask_code()) into its statements, as well as possible without knowing which
/// names are types.
std::vector<CodeStatement> split_statements(std::string_view masked);

/// Whether the masked code contains a lambda, outside of the definitions of functions.
bool has_lambda(std::string_view masked);

/// Whether a statement of the kind `other` declares a variable, judging by its words.
bool is_declaration(std::string_view masked);

/// The position of the bracket that closes the one at `open`; npos if there is none.
std::size_t find_closing(std::string_view masked, std::size_t open);

}  // namespace px::cpp
