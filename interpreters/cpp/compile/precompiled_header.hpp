#pragma once

#include <string>
#include <vector>

#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::cpp {

/// The source of a precompiled header, and its folder.
struct PrecompiledHeaderOptions {
  std::vector<std::string> flags;  ///< The same as those of the session.
  std::string resource_folder;     ///< Clang's own headers; "" for those of the compiler.
  std::string compiler;            ///< "" for the clang++ that was found when this was built.
  std::string text;                ///< The header; "" for prelude_text().
  /// "" for <cache>/polyxeus/cpp, or a folder for temporary files if that cannot be written.
  std::string folder;
  /// How long to wait for another process that makes the same one, and for the compiler.
  Duration patience = std::chrono::seconds(90);
};

/// The path of the precompiled header with that text, made now if it is missing or out of date: it
/// depends on the flags, the compiler, the processor and each header in it. Any number of processes
/// on any number of hosts may call it at the same time; one of them makes it.
/// errors  unsupported: there is no compiler; bad_input: the compiler's message; system: no folder
///         can be written. A session works without it, but starts slowly.
Result<std::string> ensure_precompiled_header(const PrecompiledHeaderOptions& options);

/// Makes a folder next to a precompiled header, in which sessions store machine code of its
/// functions for others. It is removed when the header is made again.
void keep_code_of(const std::string& precompiled_header);
/// That folder; "" if there is none.
std::string code_folder_of(const std::string& precompiled_header);

/// Whether clang accepts them; no error if there is no clang++.
/// errors  bad_input: clang's message.
Result<void> check_compiler_flags(const std::vector<std::string>& flags);

/// A name for everything on which the header depends, except the files that it includes.
std::string precompiled_header_key(const PrecompiledHeaderOptions& options,
                                   const std::string& machine);

/// The files in a rule for make, in the form that compilers write: the first one is the target.
std::vector<std::string> files_of_rule(const std::string& rule);

/// Distinguishes versions of a file: its size and time; "-" if it does not exist.
std::string stamp_of_file(const std::string& path);

}  // namespace px::cpp
