#include "interpreters/cpp/jit/cell_code.hpp"

#include <atomic>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/messages/type_names.hpp"

namespace px::cpp {
namespace {

constexpr std::size_t most_functions = 100'000;

struct Function {
  std::uintptr_t begin, end;
  std::string name;
  const Function* earlier;
};
std::atomic<const Function*> newest = nullptr;  // never deleted: a handler may be reading
std::atomic<std::size_t> count = 0;

}  // namespace

void CellCode::add(std::uintptr_t begin, std::uintptr_t end, std::string_view symbol,
                   const std::string& cell) {
  if (count.fetch_add(1) >= most_functions) return;
  const std::string name = name_of_symbol(std::string(symbol));
  const bool has_name = !name.empty() && !name.starts_with("__") &&
                        !is_wrapper(std::string_view(name).substr(0, name.find('(')));
  auto* const made =
      new Function{begin, end, has_name ? name + " (" + cell + ")" : "code of " + cell, newest};
  while (!newest.compare_exchange_weak(made->earlier, made)) {
  }
}

const char* CellCode::name_of(std::uintptr_t address) {
  for (const Function* each = newest; each; each = each->earlier)
    if (address >= each->begin && address < each->end) return each->name.c_str();
  return nullptr;
}

}  // namespace px::cpp
