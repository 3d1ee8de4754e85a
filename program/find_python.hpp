#pragma once

#include <string>

#include "program/python_choice.hpp"

namespace px::program {

/// Whether there is a program at this path.
bool is_program(const std::string& path);

/// The Python for `package`, among all candidates that this process's environment names.
/// option   the value of --python, or empty.
/// program  argv[0] of this program.
/// package  "polyxeus/engine": its folder; `module` must be importable.
/// errors   unsupported: none has it.
Result<std::string> find_python(const std::string& option, const std::string& program,
                                const std::string& package, const std::string& module);

/// Becomes that Python (the process id stays). Returns only on failure: the message for the user.
/// arguments  those after the program's name.
std::string become_python(const std::string& python, const std::string& module, int argc,
                          char** argv);

/// Becomes a program next to the one that this process runs: one of those for C++. Returns only on
/// failure: the message for the user.
std::string become_program_beside(const std::string& name, char** argv);

/// The path of the program that this process runs.
std::string own_program();

}  // namespace px::program
