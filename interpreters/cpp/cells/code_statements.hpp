#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace px::cpp {

enum class StatementKind {
  directive,    ///< Of the preprocessor.
  block,        ///< { }, if, for, while, do, switch, try, namespace, extern "C" { }
  function,     ///< The definition of a function, its body included.
  declaration,  ///< Begins with a word that no expression begins with.
  other,        ///< An expression, or the declaration of a variable.
};

/// One statement at the top level of a cell.
struct CodeStatement {
  StatementKind kind = StatementKind::other;
  std::size_t begin = 0, end = 0;  ///< In bytes, the semicolon included.
  bool is_ended = false;           ///< By its semicolon, or by its brace where it needs none.
  bool is_open = false;            ///< A bracket in it is not closed.
  std::string_view name = {};      ///< What it seems to define: a function or a variable.
};

/// Cuts masked code (mask_code()) into its statements, as well as this can be done without knowing
/// what is a type.
std::vector<CodeStatement> split_statements(std::string_view masked);

/// Whether there is a lambda in the masked code, outside of the definitions of functions.
bool has_lambda(std::string_view masked);

/// Whether a statement of the kind `other` declares a variable, as far as its words tell.
bool is_declaration(std::string_view masked);

/// Where the bracket at `open` closes: the position of its partner; npos where there is none.
std::size_t find_closing(std::string_view masked, std::size_t open);

}  // namespace px::cpp
