#pragma once

namespace px::cpp {

class Compiler;
class HeaderCode;
class KnownCode;

/// From now on functions whose code the program has are not compiled: clang makes no code of them,
/// and code that it makes nevertheless is removed before it is optimized.
/// header  is told of which functions clang makes code; null: none. All outlive the compiler.
void skip_known_functions(Compiler& compiler, const KnownCode& known, HeaderCode* header);

}  // namespace px::cpp
