#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "interpreters/cpp/cells/macro_text.hpp"

namespace px::cpp {

inline constexpr const char* stray_return =
    "'return' stands outside of a function: to show a value, end the cell with the expression "
    "alone";

/// A mistake that clang's incremental compiler does not survive.
struct CellMistake {
  std::size_t offset = 0;  ///< In the code, in bytes.
  std::string what = {};   ///< As a compiler would say it.
};

/// A brace that is never closed, or a statement that cannot stand at the top of a cell. Code with
/// #if may have more braces than the compiler sees: it is left alone.
std::optional<CellMistake> find_mistake(std::string_view code, const FindMacro& find_macro);

/// A `return`, `goto`, `break`, `continue`, `case`, `else` or label that stands outside of what it
/// belongs to.
std::optional<CellMistake> find_stray_statement(std::string_view code, const FindMacro& find_macro);

/// The mistake as a diagnostic of clang's, which names the cell and shows the line.
std::string diagnostic_of(const CellMistake& mistake, const std::string& code,
                          const std::string& cell);

}  // namespace px::cpp
