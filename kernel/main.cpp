// pxkernel: finds the user's Python and becomes `python -m polyxeus.kernel` in it.

#include <iostream>

#include <px/interpreters/find_python.hpp>
#include <px/kernel/options.hpp>

int main(int argc, char** argv) {
  using namespace px;
  const auto fail = [](const std::string& what) {
    std::cerr << "pxkernel: " << what << std::endl;
    return 1;
  };
  kernel::Options options;
  if (const auto code = kernel::parse_options(argc, argv, options)) return *code;
  const Result<std::string> python =
      find_python(options.python, argv[0], "polyxeus/kernel", "polyxeus._kernel");
  if (!python) return fail(python.error().what);
  return fail(become_python(*python, "polyxeus.kernel", argc, argv));
}
