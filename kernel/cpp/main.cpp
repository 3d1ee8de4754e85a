// pxkernel-cpp: the Jupyter kernel whose cells are C++. pxkernel becomes it with --language=cpp.

#include <poll.h>
#include <stdio.h>

#include <filesystem>
#include <iostream>

#include <px/interpreters/environment.hpp>
#include <px/interpreters/find_python.hpp>
#include <px/kernel/cpp/cpp_kernel.hpp>
#include <px/kernel/log.hpp>
#include <px/kernel/options.hpp>
#include <px/kernel/parent_watch.hpp>
#include <px/kernel/runner.hpp>
#include <px/net/private_file.hpp>

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

int run(int argc, char** argv) {
  Options options;
  if (const auto code = parse_options(argc, argv, options)) return *code;
  const Result<std::string> text = read_file(options.connection_file);
  if (!text) return fail(text.error().what);
  const Result<KernelConnection> connection = read_kernel_connection(*text);
  if (!connection) return fail(connection.error().what + " (" + options.connection_file + ")");
  CppSession::handle_interrupts();
  auto server = Server::start(*connection, watch_parent(process_environment()));
  if (!server) return fail(server.error().what);
  start_log((*server)->original_stderr(), options.log_level);
  auto interpreter =
      CppInterpreter::create((*server)->outbox(), {cell_view_symbols(), cell_view_code()});
  if (!interpreter) {  // std::cerr is the kernel's output by now, which nobody hears yet
    ::dprintf((*server)->original_stderr(), "pxkernel: %s\n", interpreter.error().what.c_str());
    return 1;
  }
  const auto cluster = std::filesystem::path(own_program()).replace_filename("pxcluster").string();
  CppKernel kernel{**interpreter, (*server)->outbox(), cluster};
  Runner runner{kernel, **server};
  runner.run(wait_readable);
  (*server)->finish();
  ::_exit(0);  // what a cell has damaged is not to be destroyed
}

}  // namespace
}  // namespace px::kernel

int main(int argc, char** argv) {
  return px::kernel::run(argc, argv);
}
