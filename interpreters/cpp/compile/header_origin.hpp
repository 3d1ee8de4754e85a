#pragma once

#include <clang/AST/Decl.h>

namespace px::cpp {

/// Whether the function belongs only to the precompiled header: itself, or the template of which it
/// is an instance, and all template arguments of the instance. Classes outside of namespaces do not
/// count: functions of cells may belong to their interface.
bool is_of_header(const clang::FunctionDecl& function);

/// Whether the part of a cell may change the meaning of functions for which is_of_header() is true:
/// it adds to a namespace of the header, specializes one of its templates for types of the header
/// alone, defines what the header declares, or has operators for types that are not of cells.
bool changes_header(const clang::TranslationUnitDecl& part);

}  // namespace px::cpp
