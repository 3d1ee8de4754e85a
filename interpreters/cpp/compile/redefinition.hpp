#pragma once

#include <set>
#include <string>
#include <vector>

#include "interpreters/cpp/compile/compiler.hpp"
#include "interpreters/cpp/compile/source_text.hpp"

namespace px::cpp {

/// Declarations of earlier cells that give way to a cell.
struct ReplacedDeclarations {
  /// No lookup finds them any more.
  std::vector<clang::NamedDecl*> hidden = {};
  /// Still declared, but without their definitions: members of classes that are defined outside of
  /// them, friends, specializations.
  std::vector<clang::NamedDecl*> undefined = {};
  /// Names at the top that headers of the system declare, such as `y1` of the C library: no lookup
  /// finds those declarations any more. What was compiled with them keeps them.
  std::set<std::string> of_system = {};

  /// Whether there was anything new.
  bool add(const ReplacedDeclarations& more);
};

/// What must change so that a cell may define again what earlier cells have defined.
struct Redefinition {
  ReplacedDeclarations replaced = {};
  /// Mark classes, templates and what is inline, so that their symbols are others than those of the
  /// earlier ones of their names: objects of both may live on.
  std::vector<TextEdit> marks = {};
};

/// Reads what the compiler found to be there already in the text that it parsed last.
/// version  another one for each cell.
Redefinition read_clashes(Compiler& compiler, const std::vector<Clash>& clashes, int version);

/// Marks for what the part defines under names that had another meaning before, where that did not
/// clash any more.
std::vector<TextEdit> marks_for(Compiler& compiler, clang::TranslationUnitDecl& part,
                                const std::set<std::string>& names, int version);

/// Those among earlier declarations that C++ lets stand beside one of the part: a
/// variable or function that hides a class or enum of its name, a `using` of another function with
/// the same parameters. What was declared last shall be what the name means.
ReplacedDeclarations rivals_of(Compiler& compiler, clang::TranslationUnitDecl& part);

/// Unnamed namespaces are private to one cell; with a name, they are there for later cells, too.
std::string name_unnamed_namespaces(const std::string& code);

/// What would not be one thing for all parts of the program: functions that are `static`, of which
/// each part has a copy, constants with an initializer that runs, which clang would run where they
/// are first used, and what has a type of one part only: with a lambda, without a name, or local to
/// a function.
std::vector<TextEdit> share_privates(Compiler& compiler, clang::TranslationUnitDecl& part);

/// The same for functions that are static by a macro or in a header of the user: they are shared as
/// they are. Call it when all of the part was read.
void share_statics(Compiler& compiler, clang::TranslationUnitDecl& part);

/// Whether a statement at the top holds a lambda: clang 22 cannot name it, and crashes, but not each
/// time.
bool has_lambda_in_statement(clang::TranslationUnitDecl& part);

/// Captures of what is no local variable, which C++ refuses: `[a]` becomes `[a = a]`.
std::vector<TextEdit> initialize_captures(Compiler& compiler,
                                          const std::vector<GlobalCapture>& captures);

/// What a lambda with `[=]` at the top of a cell uses of the cells' variables, as captures with
/// initializers: they are no local variables, but shall be copied as those are.
/// refused  where clang has refused the `=`, which then goes.
std::vector<TextEdit> copy_captures(Compiler& compiler, clang::TranslationUnitDecl& part,
                                    const std::vector<GlobalCapture>& refused);

/// From now on the declarations give way. What refers to them keeps them.
void hide_replaced(Compiler& compiler, const ReplacedDeclarations& replaced);

/// The symbols that give way to others of the same name when it is hidden.
/// weak  those that several cells may define, such as instances of templates.
std::vector<std::string> symbols_of(Compiler& compiler, const clang::NamedDecl* declaration,
                                    const std::unordered_set<std::string>& weak);

}  // namespace px::cpp
