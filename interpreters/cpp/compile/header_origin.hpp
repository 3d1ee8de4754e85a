#pragma once

#include <clang/AST/Decl.h>

namespace px::cpp {

/// Whether the function is of the precompiled header alone: it, or the template that it is an
/// instance of, and all that the instance is made for. Classes outside of namespaces do not count:
/// functions of cells may belong to their interface.
bool is_of_header(const clang::FunctionDecl& function);

/// Whether the part of a cell may give another meaning to what is_of_header(): it adds to a
/// namespace of the header, specializes one of its templates for what is of the header alone,
/// defines what the header declares, or has operators for types that are not of cells.
bool changes_header(const clang::TranslationUnitDecl& part);

}  // namespace px::cpp
