#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <px/interpreters/cpp/compiler.hpp>

namespace px {

/// What must change so that a cell may define again what earlier cells have defined.
struct Redefinition {
  /// Declarations of earlier cells that give way.
  std::vector<clang::NamedDecl*> hidden = {};
  /// Where in the text a class gets a mark that makes its symbols others than those of the earlier
  /// class of its name; objects of both may live on. In ascending order.
  std::vector<std::size_t> marks = {};
};

/// Reads what the compiler found to be there already in the text that it parsed last.
Redefinition read_clashes(Compiler& compiler, const std::vector<Clash>& clashes);

/// The text with the marks of version `version` inserted.
std::string with_marks(std::string text, const std::vector<std::size_t>& marks, int version);

/// From now on no lookup finds the declaration. What refers to it keeps it.
void hide(Compiler& compiler, clang::NamedDecl* declaration);

/// The symbols that must make room for others of the same name when it is hidden.
/// weak  those that several cells may define, such as instances of templates.
std::vector<std::string> symbols_of(Compiler& compiler, const clang::NamedDecl* declaration,
                                    const std::unordered_set<std::string>& weak);

}  // namespace px
