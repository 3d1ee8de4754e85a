#pragma once

#include <string>
#include <vector>

#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::cpp {

/// What a precompiled header is made of, and where it is kept.
struct PrecompiledHeaderOptions {
  std::vector<std::string> flags;  ///< Exactly those of the session.
  std::string resource_folder;     ///< Clang's own headers; "" for those of the compiler.
  std::string compiler;            ///< "" for the clang++ that was found when this was built.
  std::string text;                ///< The header; "" for prelude_text().
  /// Where it is kept; "" for <cache>/polyxeus/cpp, or a folder for temporary files where that
  /// cannot be written.
  std::string folder;
  /// How long to wait for another process that makes the same one, and for the compiler.
  Duration patience = std::chrono::seconds(90);
};

/// The path of the precompiled header with that text, made now if it is not there or not current:
/// it depends on the flags, the compiler, the processor and each header in it. Any number of
/// processes on any number of hosts may ask at the same time; one makes it, as long as it lives.
/// errors  unsupported: there is no compiler; bad_input: the compiler's words; system: no folder
///         can be written. A session works without it, but starts slowly.
Result<std::string> ensure_precompiled_header(const PrecompiledHeaderOptions& options);

/// Makes a folder beside a precompiled header: sessions keep machine code of its functions there
/// for others. It goes when the header is made again.
void keep_code_of(const std::string& precompiled_header);
/// That folder; "" where there is none.
std::string code_folder_of(const std::string& precompiled_header);

/// Whether clang takes them; no error where there is no clang++ to ask.
/// errors  bad_input: its own words.
Result<void> check_compiler_flags(const std::vector<std::string>& flags);

/// A name for everything that the header depends on, but the files that it includes.
std::string precompiled_header_key(const PrecompiledHeaderOptions& options,
                                   const std::string& machine);

/// The files in a rule for make, as compilers write it: the first one is what is made.
std::vector<std::string> files_of_rule(const std::string& rule);

/// What tells one version of a file from another: its size and time; "-" where it is not there.
std::string stamp_of_file(const std::string& path);

}  // namespace px::cpp
