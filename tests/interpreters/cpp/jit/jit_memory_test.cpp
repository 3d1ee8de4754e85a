// Code of cells reaches other cells' over at most 2 GiB.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

class JitMemoryOfCells : public NotebookTest {};

TEST_F(JitMemoryOfCells, StaysTogetherWhereACellTakesAllOtherAddressesNearby) {
  runs("#include <sys/mman.h>\n#include <string>\n#include <vector>\n#include <stdexcept>");
  runs("struct Name { std::string text = \"abc\"; ~Name() { text += text; } };");
  runs(
      "std::size_t caught() { Name name; try { throw std::runtime_error(\"no\"); }"
      " catch (const std::exception& e) { return name.text.size() + std::string(e.what()).size(); "
      "} }");
  EXPECT_EQ(value("caught()"), 5);
  runs("std::vector<std::pair<void*, std::size_t>> taken;");
  // Every gap near the code, down to a page: the kernel has to go elsewhere then.
  runs(
      "auto take = [](std::size_t bytes, int times) { for (int i = 0; i < times; ++i) "
      "taken.emplace_back("
      "mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), "
      "bytes); };");
  runs(
      "taken.reserve(20000); take(4ul << 30, 2); take(256ul << 20, 20); take(16 << 20, 40); take(1 "
      "<< 20, 200); take(65536, 2000); take(4096, 4000);");
  for (int i = 0; i < 3; ++i) {
    const std::string name = "later" + std::to_string(i);
    runs("std::size_t " + name +
         "() { Name name; try { throw std::runtime_error(\"no\"); }"
         " catch (const std::exception&) { return name.text.size() + caught(); } }");
    EXPECT_EQ(value(name + "()"), 8);
  }
  runs("for (auto& [begin, bytes] : taken) munmap(begin, bytes);");
}

std::size_t count_of_mappings() {
  std::ifstream file("/proc/self/maps");
  return static_cast<std::size_t>(
      std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
}

TEST_F(JitMemoryOfCells, IsFewMappingsForManyCells) {
  runs("#include <string>");
  constexpr int cells = 40;
  std::size_t before = 0;
  for (int i = 0; i < cells; ++i) {
    if (i == cells / 4) before = count_of_mappings();
    const std::string k = std::to_string(i);
    runs("int table" + k + "[] = {" + k + ", 2}; const char* name" + k + "() { return \"cell " + k +
         "\"; } std::string text" + k + " = name" + k + "();");
  }
  EXPECT_EQ(value("text7 == \"cell 7\" && table30[0] == 30"), 1);
  EXPECT_LE(count_of_mappings(), before + cells / 2);
}

}  // namespace
}  // namespace px::cpp
