// pxkernel-cpp: the Jupyter kernel whose cells are C++. pxkernel becomes it with --language=cpp.

#include <poll.h>
#include <stdio.h>

#include <filesystem>
#include <iostream>

#include "interpreters/cpp/jit/cell_code.hpp"
#include "jupyter/runner.hpp"
#include "kernel/cpp/cpp_kernel.hpp"
#include "kernel/log.hpp"
#include "kernel/options.hpp"
#include "kernel/parent_watch.hpp"
#include "kernel/server.hpp"
#include "os/last_stack.hpp"
#include "os/private_file.hpp"
#include "program/environment.hpp"
#include "program/find_python.hpp"

namespace px::kernel {
namespace {

int fail(const std::string& what) {
  std::cerr << "pxkernel: " << what << std::endl;
  return 1;
}

void wait_readable(int descriptor) {
  pollfd wanted{descriptor, POLLIN, 0};
  ::poll(&wanted, 1, -1);
}

/// What std::cin and stdin in a cell read: lines that the user of the notebook types.
cpp::CellInput::Ask ask_user_of(jupyter::Queues& queues) {
  return [&queues]() -> Result<std::string> {
    if (!queues.inputs.is_allowed())
      return Error{ErrorKind::unsupported,
                   "the client that runs this cell accepts no input (allow_stdin is false)"};
    auto answer = queues.ask_user("", false, cpp::CppSession::is_interrupt_pending);
    if (!answer) return Error{ErrorKind::system, "the question was interrupted"};
    return *answer;
  };
}

int run(int argc, char** argv) {
  os::write_last_stack(cpp::CellCode::name_of);
  KernelOptions options;
  if (const auto code = parse_options(argc, argv, options)) return *code;
  const Result<std::string> text = os::read_file(options.connection_file);
  if (!text) return fail(text.error().what);
  const auto connection = jupyter::read_kernel_connection(*text);
  if (!connection) return fail(connection.error().what + " (" + options.connection_file + ")");
  cpp::CppSession::handle_interrupts();
  const program::Environment environment = program::process_environment();
  auto server = KernelServer::start(*connection, watch_parent(environment),
                                    program::captures_descriptors(environment));
  if (!server) return fail(server.error().what);
  start_log((*server)->original_stderr(), options.log_level);
  jupyter::Queues& queues = (*server)->queues();
  auto interpreter =
      cpp::CppInterpreter::create(queues.outgoing, {cell_view_symbols(), cell_view_code(), cpp::load_mpi_for_cells()});
  if (!interpreter) {  // std::cerr is the kernel's output by now, which nobody hears yet
    ::dprintf((*server)->original_stderr(), "pxkernel: %s\n", interpreter.error().what.c_str());
    return 1;
  }
  (*interpreter)->set_input(ask_user_of(queues));
  const auto cluster =
      std::filesystem::path(program::own_program()).replace_filename("pxcluster").string();
  CppKernel kernel{**interpreter, queues.outgoing, cluster};
  jupyter::Runner runner{kernel, queues, (*server)->formats(), {}};
  runner.run(wait_readable);
  (*server)->finish();
  ::_exit(0);  // what a cell has damaged is not to be destroyed
}

}  // namespace
}  // namespace px::kernel

int main(int argc, char** argv) {
  return px::kernel::run(argc, argv);
}
