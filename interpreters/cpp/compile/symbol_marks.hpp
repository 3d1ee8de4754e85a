#pragma once

#include <optional>
#include <string>

#include "interpreters/cpp/compile/compiler.hpp"
#include "interpreters/cpp/compile/source_text.hpp"

// Marks give repeated definitions of a cell other symbols than those of the earlier definitions of
// the same names, so that objects and code of both may coexist.
namespace px::cpp {

/// The text of a part's source that contains a position: "" for that of a cell, the path for one of
/// version_path(); nothing for all other files. For a macro it is the position of its use.
std::optional<std::string> text_of_place(const clang::SourceManager& sources,
                                         clang::SourceLocation place);

/// A class or a class template.
bool is_class(const clang::NamedDecl* declaration);

/// Whether each part of the program that uses it contains its code: clang would use the earlier
/// one's code for the later one, because they have the same symbol. True for inline definitions,
/// for constants (clang's behaviour in incremental programs), for definitions that contain a
/// lambda, and for those that got a mark for such a reason.
bool is_emitted_where_used(const clang::NamedDecl* declaration);

/// Whether the declaration must stay when its definition is removed.
bool keeps_declaration(const clang::NamedDecl* declaration);

/// Whether clang supports marks on such a declaration.
bool may_be_marked(const clang::NamedDecl* declaration);

/// A mark before a class's name; nothing if that is impossible: `A::B`, after '}', in a macro.
std::optional<TextEdit> mark_of_class(const clang::SourceManager& sources,
                                      clang::SourceLocation name, int version);
/// A mark for a function, a variable or a template of these: after `template <...>`, before all
/// else.
std::optional<TextEdit> mark_of_declarator(Compiler& compiler, const clang::NamedDecl* declaration,
                                           int version);

}  // namespace px::cpp
