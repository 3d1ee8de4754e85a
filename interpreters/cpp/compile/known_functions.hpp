#pragma once

namespace px::cpp {

class Compiler;
class KnownCode;

/// From now on nothing is made of functions whose code the program has: clang makes no code of
/// them, and what it makes nevertheless is taken out before it is optimized.
/// known  outlives the compiler.
void skip_known_functions(Compiler& compiler, const KnownCode& known);

}  // namespace px::cpp
