#include "kernel/parent_watch.hpp"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string>

#include "os/processes.hpp"

namespace px::kernel {
namespace {

/// Who has started `process`; 0 where the system does not say.
pid_t parent_of(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos || name_end + 4 >= line.size()) return 0;
  pid_t parent = 0;
  const char* const begin = line.data() + name_end + 4;  // ") S 123"
  std::from_chars(begin, line.data() + line.size(), parent);
  return parent;
}

}  // namespace

bool is_ancestor(pid_t process) {
  constexpr int most_generations = 64;
  pid_t each = ::getppid();
  for (int i = 0; i < most_generations && each > 0; ++i) {
    if (each == process) return true;
    each = parent_of(each);
  }
  return false;
}

os::Descriptor watch_parent(const program::Environment& environment) {
  const std::string text = environment("JPY_PARENT_PID").value_or("");
  pid_t parent = 0;
  std::from_chars(text.data(), text.data() + text.size(), parent);
  if (parent <= 1 || !is_ancestor(parent)) return {};
  return os::open_pidfd(parent);
}

}  // namespace px::kernel
