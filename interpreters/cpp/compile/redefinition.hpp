#pragma once

#include <set>
#include <string>
#include <vector>

#include "interpreters/cpp/compile/compiler.hpp"
#include "interpreters/cpp/compile/source_text.hpp"

namespace px::cpp {

/// Declarations of earlier cells that a cell replaces.
struct ReplacedDeclarations {
  /// Lookups no longer find them.
  std::vector<clang::NamedDecl*> hidden = {};
  /// Still declared, but without their definitions: members of classes that are defined outside of
  /// them, friends, specializations.
  std::vector<clang::NamedDecl*> undefined = {};
  /// Names at the top that headers of the system declare, such as `y1` of the C library: lookups no
  /// longer find those declarations. Code that was compiled with them keeps them.
  std::set<std::string> of_system = {};

  /// Whether there was anything new.
  bool add(const ReplacedDeclarations& more);
};

/// The changes that allow a cell to define again names that earlier cells have defined.
struct Redefinition {
  ReplacedDeclarations replaced = {};
  /// Mark classes, templates and inline definitions, so that their symbols differ from those of the
  /// earlier ones with the same names: objects of both may coexist.
  std::vector<TextEdit> marks = {};
};

/// Reads the clashes that the compiler found in the text that it parsed last.
/// version  a different one for each cell.
Redefinition read_clashes(Compiler& compiler, const std::vector<Clash>& clashes, int version);

/// Marks for the part's definitions of names that had another meaning before, if that no longer
/// clashed.
std::vector<TextEdit> marks_for(Compiler& compiler, clang::TranslationUnitDecl& part,
                                const std::set<std::string>& names, int version);

/// Those of the earlier declarations that C++ allows next to one of the part: a variable or
/// function that hides a class or enum of its name, a `using` of another function with the same
/// parameters. The name must refer to the latest declaration.
ReplacedDeclarations rivals_of(Compiler& compiler, clang::TranslationUnitDecl& part);

/// Unnamed namespaces are private to one cell; with a name, they are available to later cells, too.
std::string name_unnamed_namespaces(const std::string& code);

/// Edits for definitions that would not be shared by all parts of the program: `static` functions,
/// of which each part has a copy; constants with an initializer that runs, which clang would run
/// where they are first used; and definitions with a type of one part only: with a lambda, without
/// a name, or local to a function.
std::vector<TextEdit> share_privates(Compiler& compiler, clang::TranslationUnitDecl& part);

/// The same for functions that are static by a macro or in a header of the user: they are shared
/// unchanged. Call it after all of the part was read.
void share_statics(Compiler& compiler, clang::TranslationUnitDecl& part);

/// Whether a statement at the top contains a lambda: clang 22 cannot name it, and sometimes
/// crashes.
bool has_lambda_in_statement(clang::TranslationUnitDecl& part);

/// Captures of names that are not local variables, which C++ rejects: `[a]` becomes `[a = a]`.
std::vector<TextEdit> initialize_captures(Compiler& compiler,
                                          const std::vector<GlobalCapture>& captures);

/// The cells' variables that a lambda with `[=]` at the top of a cell uses, as captures with
/// initializers: they are not local variables, but must be copied like those.
/// refused  whether clang has rejected the `=`, which is removed in this case.
std::vector<TextEdit> copy_captures(Compiler& compiler, clang::TranslationUnitDecl& part,
                                    const std::vector<GlobalCapture>& refused);

/// From now on lookups do not find the declarations. Code that refers to them keeps them.
void hide_replaced(Compiler& compiler, const ReplacedDeclarations& replaced);

/// The symbols that are replaced by others of the same name when it is hidden.
/// weak  those that several cells may define, such as instances of templates.
std::vector<std::string> symbols_of(Compiler& compiler, const clang::NamedDecl* declaration,
                                    const std::unordered_set<std::string>& weak);

}  // namespace px::cpp
