#pragma once

namespace px::cpp {

class Compiler;
class HeaderCode;
class KnownCode;

/// From now on nothing is made of functions whose code the program has: clang makes no code of
/// them, and what it makes nevertheless is taken out before it is optimized.
/// header  is told which functions clang makes code of; null for none. All outlive the compiler.
void skip_known_functions(Compiler& compiler, const KnownCode& known, HeaderCode* header);

}  // namespace px::cpp
