#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "os/child_process.hpp"
#include "os/descriptor.hpp"
#include "wire/error.hpp"

namespace px::os {

/// /dev/null.
struct NullDevice {};
/// The stream of this process.
struct Inherited {};
/// A text to read from its beginning, of any length.
struct InputText {
  std::string text;
};
/// A new pipe, whose other end the parent gets in Spawned.
struct OutputPipe {};
/// A file, created with `mode` if it does not exist.
struct OutputFile {
  std::filesystem::path path;
  bool appends = true;  ///< false: its content is removed first.
  unsigned mode = 0600;
};
/// The target of the standard output.
struct SameAsOutput {};

/// An int is an open descriptor of the parent, which keeps it.
using ChildInput = std::variant<NullDevice, Inherited, InputText, int>;
using ChildOutput = std::variant<NullDevice, Inherited, OutputPipe, OutputFile, int>;
using ChildErrors = std::variant<NullDevice, Inherited, OutputPipe, OutputFile, int, SameAsOutput>;

struct SpawnOptions {
  /// Program and arguments. argv[0] is a path, or a name that is searched in this process's $PATH.
  std::vector<std::string> argv;
  /// Added to this process's environment; replaces variables of the same name.
  std::map<std::string, std::string> environment = {};
  ChildInput input = NullDevice{};
  ChildOutput output = Inherited{};
  ChildErrors errors = Inherited{};
  /// Whether it runs in a separate session and process group, without a terminal: input at the
  /// terminal of this process does not reach the child, and signal_group() reaches its children.
  bool own_session = false;
  /// The kernel sends this signal to the child when the *thread* that called spawn() ends, which is
  /// not always when the process ends: set it only on a thread that outlives the child, or that
  /// waits for it. 0: none.
  int death_signal = 0;
  /// SIGTERM ends neither the child nor its children, from the start.
  bool ignores_sigterm = false;
  /// Descriptors beyond the standard streams that stay open in the child, under their numbers.
  std::vector<int> inherited_descriptors = {};
};

struct Spawned {
  ChildProcess process;
  Descriptor output;  ///< The end to read, if `output` was a pipe. Blocking, close-on-exec.
  Descriptor errors;  ///< The same for the standard error.
};

/// Starts a program as a child of this process and returns when the program runs. The child has no
/// signal blocked, handled or ignored, and no descriptor open, except those that `options` names.
/// Safe in a process with threads, from any thread: the child runs only async-signal-safe code
/// before it becomes the program, no pthread_atfork handler runs, and the memory is not copied
/// (vfork).
/// Precondition: argv is not empty.
/// errors  not_found: there is no such program;
///         system: it cannot be started, or an output file cannot be opened. Both messages name the
///         program or file, and the cause.
Result<Spawned> spawn(const SpawnOptions& options);

/// A pipe whose ends are closed on exec.
struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};
/// errors  system: no descriptor is left.
Result<Pipe> make_pipe();

/// The path of the program `name` in $PATH; `name` itself if it contains a slash and is a program;
/// "" if there is none.
std::string find_program(const std::string& name);

}  // namespace px::os
