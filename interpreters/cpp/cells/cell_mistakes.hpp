#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "interpreters/cpp/cells/macro_text.hpp"

namespace px::cpp {

inline constexpr const char* stray_return =
    "'return' is outside of a function: to show a value, end the cell with the expression "
    "alone";

/// A mistake after which clang's incremental compiler cannot be used.
struct CellMistake {
  std::size_t offset = 0;  ///< Position in the code, in bytes.
  std::string what = {};   ///< In the words of a compiler.
};

/// Finds a brace that is never closed, or a statement that is not allowed at the top of a cell.
/// Code with #if may have more braces than the compiler sees: it is not checked.
std::optional<CellMistake> find_mistake(std::string_view code, const FindMacro& find_macro);

/// Finds a `return`, `goto`, `break`, `continue`, `case`, `else` or label outside of the statement
/// to which it belongs.
std::optional<CellMistake> find_stray_statement(std::string_view code, const FindMacro& find_macro);

/// The mistake in the form of clang's diagnostics, which names the cell and shows the line.
std::string diagnostic_of(const CellMistake& mistake, const std::string& code,
                          const std::string& cell);

}  // namespace px::cpp
