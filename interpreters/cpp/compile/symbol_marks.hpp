#pragma once

#include <optional>
#include <string>

#include "interpreters/cpp/compile/compiler.hpp"
#include "interpreters/cpp/compile/source_text.hpp"

// Marks give what a cell defines again other symbols than those of the earlier definitions of its
// names, so that objects and code of both may live on.
namespace px::cpp {

/// The text of a part's source in which a place is: "" for that of a cell, the path for one of
/// version_path(); nothing for all other files. A macro counts for where it is used.
std::optional<std::string> text_of_place(const clang::SourceManager& sources,
                                         clang::SourceLocation place);

/// A class or a class template.
bool is_class(const clang::NamedDecl* declaration);

/// Whether each part of the program that uses it has its code: clang would take the earlier one's
/// for the later one's, as they go by the same symbol. So it is with what is inline, with constants
/// (clang's way in incremental programs), with what holds a lambda, and with what got a mark in
/// place of such a thing.
bool is_emitted_where_used(const clang::NamedDecl* declaration);

/// Whether the declaration must stay when its definition goes.
bool keeps_declaration(const clang::NamedDecl* declaration);

/// Whether clang knows marks on such a thing.
bool may_be_marked(const clang::NamedDecl* declaration);

/// A mark before a class's name; nothing where there can be none: `A::B`, behind '}', in a macro.
std::optional<TextEdit> mark_of_class(const clang::SourceManager& sources,
                                      clang::SourceLocation name, int version);
/// A mark for a function, a variable or a template of these: behind `template <...>`, before all
/// else.
std::optional<TextEdit> mark_of_declarator(Compiler& compiler, const clang::NamedDecl* declaration,
                                           int version);

}  // namespace px::cpp
