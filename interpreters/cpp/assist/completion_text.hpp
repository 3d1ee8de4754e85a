#pragma once

#include <clang/Sema/CodeCompleteConsumer.h>

#include <string>

namespace px::cpp {

/// "(int a, int b) -> double" of a function, the type of a variable, "" of other things.
std::string signature_of(const clang::CodeCompletionString& completion);

/// All of it, "double pow(double x, double y)"; the parameter that is being written is `current`
/// where there is one.
std::string whole_text(const clang::CodeCompletionString& completion, std::string& current);

/// Names of parameters without the underscores that libraries have before them: "__x" is "x".
std::string with_plain_parameters(const std::string& text);

}  // namespace px::cpp
