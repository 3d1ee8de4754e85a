#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace px::os {

/// The functions of an ELF file (a program or a library) that have code at these places of the
/// file, as the file's symbol tables call them, without C++'s decoration, and cut if they are very
/// long; "" where none is known. Reads parts of the file, which may take as long as its disk takes;
/// a file that is none, or is damaged, has no names. Any thread.
/// offsets  in the file, in bytes.
std::vector<std::string> functions_of_elf(const std::filesystem::path& path,
                                          std::span<const std::uint64_t> offsets);

}  // namespace px::os
