#pragma once

#include <string>

#include "program/python_choice.hpp"

namespace px::program {

/// Whether a program lies there.
bool is_program(const std::string& path);

/// The Python that is to run `package`, of all candidates that this process's environment names.
/// option   what --python says, or empty.
/// program  how this program was called (argv[0]).
/// package  "polyxeus/engine": its folder; `module` is what it must be able to import.
/// errors   unsupported: none has it.
Result<std::string> find_python(const std::string& option, const std::string& program,
                                const std::string& package, const std::string& module);

/// Becomes that Python (the process id stays).  Returns only on failure: what to tell the user.
/// arguments  those behind the program's name.
std::string become_python(const std::string& python, const std::string& module, int argc,
                          char** argv);

/// Becomes a program that lies beside the one that this process runs: one of those for C++.
/// Returns only on failure: what to tell the user.
std::string become_program_beside(const std::string& name, char** argv);

/// The path of the program that this process runs.
std::string own_program();

}  // namespace px::program
