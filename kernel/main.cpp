// pxkernel: becomes the kernel of the language that is asked for: `python -m polyxeus.kernel` in
// the user's Python, or pxkernel-cpp, which is a program of its own as it needs LLVM.

#include <iostream>

#include "kernel/options.hpp"
#include "program/find_python.hpp"

int main(int argc, char** argv) {
  using namespace px;
  const auto fail = [](const std::string& what) {
    std::cerr << "pxkernel: " << what << std::endl;
    return 1;
  };
  px::kernel::KernelOptions options;
  if (const auto code = px::kernel::parse_options(argc, argv, options)) return *code;
  if (options.language == "cpp" && options.command.empty())
    return fail(px::program::become_program_beside("pxkernel-cpp", argv));
  const px::Result<std::string> python =
      px::program::find_python(options.python, argv[0], "polyxeus/kernel", "polyxeus._kernel");
  if (!python) return fail(python.error().what);
  return fail(px::program::become_python(*python, "polyxeus.kernel", argc, argv));
}
