#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace px::cpp {

/// A macro, according to its definition.
struct MacroBody {
  bool takes_arguments = false;
  std::string text;
};
/// Looks up a macro that was defined before the cell; none if there is no such macro.
using FindMacro = std::function<std::optional<MacroBody>(const std::string& name)>;

/// Masked code (see code_mask.hpp) in which each macro that contains brackets or semicolons is
/// expanded: it is split into statements. Arguments of macros no longer follow the expansion; other
/// macros are unchanged.
struct ExpandedCode {
  std::string text;

  /// The beginning and the end, in the code, of the statement at that position of `text`; nothing
  /// if that is in the middle of a macro's expansion.
  std::optional<std::size_t> begin_in_code(std::size_t begin) const;
  std::optional<std::size_t> end_in_code(std::size_t end) const;

  /// A part of the text that is the expansion of one use of a macro.
  struct Expansion {
    std::size_t begin, end;            ///< In the text.
    std::size_t code_begin, code_end;  ///< In the code.
  };
  std::vector<Expansion> expansions = {};  ///< In their order.

 private:
  std::size_t to_code(std::size_t place) const;
};

/// Also finds the macros that the code itself defines.
ExpandedCode expand_macros(std::string_view code, const FindMacro& find_macro);

}  // namespace px::cpp
