#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace px::os {

/// The functions of an ELF file (a program or a library) whose code is at these positions of the
/// file, by the names in the file's symbol tables, without C++'s decoration, and cut if very long;
/// "" if unknown. Reads parts of the file, which may take as long as its disk takes; a file that is
/// damaged, or not an ELF file, has no names. Any thread.
/// offsets  in the file, in bytes.
std::vector<std::string> functions_of_elf(const std::filesystem::path& path,
                                          std::span<const std::uint64_t> offsets);

}  // namespace px::os
