#include "os/stacks/code_names.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "os/private_file.hpp"
#include "os/stacks/elf_functions.hpp"

namespace px::os {
namespace {

[[gnu::noinline]] int a_function_with_a_name(int number) {
  return number * 3 + 1;
}

std::uintptr_t address_of_it() {
  return reinterpret_cast<std::uintptr_t>(&a_function_with_a_name) + 1;
}

TEST(CodeNames, MapsOfCodeAreReadWithTheirFiles) {
  const auto maps = read_code_maps(
      "55d0-55e0 r--p 00000000 fe:01 12   /usr/bin/a b\n"
      "55e0-5600 r-xp 00001000 fe:01 12   /usr/bin/a b\n"
      "7f00-7f01 rwxp 00000000 00:00 0 \n"
      "7f10-7f20 r-xp 00002000 fe:01 14   /tmp/lib.so (deleted)\n"
      "7ffe-7fff r-xp 00000000 00:00 0    [vdso]\n");
  EXPECT_EQ(maps, (std::vector<MappedCode>{{0x55e0, 0x5600, 0x1000, "/usr/bin/a b", false},
                                           {0x7f00, 0x7f01, 0, "", false},
                                           {0x7f10, 0x7f20, 0x2000, "/tmp/lib.so", true},
                                           {0x7ffe, 0x7fff, 0, "[vdso]", false}}));
  EXPECT_EQ(find_code(maps, 0x7f10)->path, "/tmp/lib.so");
  EXPECT_EQ(find_code(maps, 0x7f20), nullptr);
}

TEST(CodeNames, AFunctionThatIsNotExportedHasItsName) {
  ASSERT_EQ(a_function_with_a_name(1), 4);
  CodeNames names{own_code_maps()};
  const std::array addresses{address_of_it(), reinterpret_cast<std::uintptr_t>(&::getppid) + 1,
                             std::uintptr_t{16}};
  const auto frames = names.frames_of(addresses);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].function, "px::os::(anonymous namespace)::a_function_with_a_name(int)");
  EXPECT_TRUE(frames[0].file.ends_with("px_os_tests")) << frames[0].file;
  EXPECT_EQ(frames[2], StackFrame{});
  EXPECT_EQ(names.frames_of(addresses), frames);
}

TEST(CodeNames, CodeWithoutAFileHasNone) {
  CodeNames names{{{0x1000, 0x2000, 0, "", false}, {0x3000, 0x4000, 0, "/gone.so", true}}};
  const std::array<std::uintptr_t, 2> addresses{0x1004, 0x3004};
  EXPECT_EQ(names.frames_of(addresses)[0], StackFrame{});
  EXPECT_EQ(names.frames_of(addresses)[1], (StackFrame{.file = "/gone.so", .offset = 4}));
}

TEST(ElfFunctions, OfFilesThatAreDamagedThereAreNone) {
  const std::array<std::uint64_t, 2> offsets{0x1000, 1};
  const std::vector<std::string> none(2);
  std::string name = "/tmp/px_elf_XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const std::filesystem::path folder{name};
  const std::string program = *read_file("/proc/self/exe", std::size_t{1} << 30);
  std::string wild = program.substr(0, 64) + std::string(100'000, '\xff');
  for (const std::string& content : {std::string(), std::string("no program"),
                                     program.substr(0, 63), program.substr(0, 5000), wild}) {
    const std::filesystem::path file = folder / "damaged";
    std::ofstream{file, std::ios::binary} << content;
    EXPECT_EQ(functions_of_elf(file, offsets), none) << content.size();
  }
  EXPECT_EQ(functions_of_elf(folder, offsets), none);
  EXPECT_EQ(functions_of_elf(folder / "missing", offsets), none);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace px::os
