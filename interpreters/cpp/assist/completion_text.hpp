#pragma once

#include <clang/Sema/CodeCompleteConsumer.h>

#include <string>

namespace px::cpp {

/// "(int a, int b) -> double" for a function, the type of a variable, "" for other things.
std::string signature_of(const clang::CodeCompletionString& completion);

/// The whole declaration, "double pow(double x, double y)"; if a parameter is being written,
/// `current` is that one.
std::string whole_text(const clang::CodeCompletionString& completion, std::string& current);

/// Names of parameters without the leading underscores of libraries: "__x" is "x".
std::string with_plain_parameters(const std::string& text);

}  // namespace px::cpp
