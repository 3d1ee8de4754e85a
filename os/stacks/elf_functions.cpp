#include "os/stacks/elf_functions.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "os/descriptor.hpp"

namespace px::os {
namespace {

constexpr std::size_t most_headers = 4096;  // segments, sections
constexpr std::size_t symbols_at_once = 8192;
constexpr std::size_t longest_name = 4096, longest_plain_name = 300;  // of templates

std::string plain_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name{
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free};
  return std::string(name && status == 0 ? name.get() : symbol).substr(0, longest_plain_name);
}

/// Reads structures of a file, as far as it has them.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}

  template <class Part>
  std::vector<Part> read(std::uint64_t offset, std::size_t count) const {
    std::vector<Part> parts(count);
    const ssize_t size =
        ::pread(file_.value(), parts.data(), count * sizeof(Part), static_cast<off_t>(offset));
    parts.resize(size > 0 ? static_cast<std::size_t>(size) / sizeof(Part) : 0);
    return parts;
  }

 private:
  Descriptor file_;
};

/// A place whose function is wanted.
struct WantedCode {
  std::uint64_t address = 0;  ///< Where the file wants it to be in memory.
  std::size_t index = 0;      ///< Among the wanted ones.
  std::uint64_t name = 0;     ///< Where its name is in the file; 0: not found yet.
};

std::vector<WantedCode> wanted_code(const std::vector<Elf64_Phdr>& segments,
                                    std::span<const std::uint64_t> offsets) {
  std::vector<WantedCode> wanted;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    for (const Elf64_Phdr& segment : segments)
      if (segment.p_type == PT_LOAD && offsets[i] >= segment.p_offset &&
          offsets[i] - segment.p_offset < segment.p_filesz) {
        wanted.push_back({offsets[i] - segment.p_offset + segment.p_vaddr, i});
        break;
      }
  std::sort(wanted.begin(), wanted.end(),
            [](const WantedCode& a, const WantedCode& b) { return a.address < b.address; });
  return wanted;
}

void find_names(const ElfFile& file, const Elf64_Shdr& table, const Elf64_Shdr& names,
                std::vector<WantedCode>& wanted) {
  const std::uint64_t count = table.sh_size / sizeof(Elf64_Sym);
  for (std::uint64_t first = 0; first < count; first += symbols_at_once) {
    const auto symbols = file.read<Elf64_Sym>(
        table.sh_offset + first * sizeof(Elf64_Sym),
        static_cast<std::size_t>(std::min<std::uint64_t>(symbols_at_once, count - first)));
    if (symbols.empty()) return;
    for (const Elf64_Sym& symbol : symbols) {
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
      auto code = std::lower_bound(
          wanted.begin(), wanted.end(), symbol.st_value,
          [](const WantedCode& each, std::uint64_t address) { return each.address < address; });
      for (; code != wanted.end() && code->address - symbol.st_value < symbol.st_size; ++code)
        if (code->name == 0) code->name = names.sh_offset + symbol.st_name;
    }
  }
}

}  // namespace

std::vector<std::string> functions_of_elf(const std::filesystem::path& path,
                                          std::span<const std::uint64_t> offsets) {
  std::vector<std::string> functions(offsets.size());
  const ElfFile file{path};
  const auto headers = file.read<Elf64_Ehdr>(0, 1);
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      headers[0].e_ident[EI_CLASS] != ELFCLASS64 || headers[0].e_shnum > most_headers)
    return functions;
  const Elf64_Ehdr& header = headers[0];
  auto wanted = wanted_code(file.read<Elf64_Phdr>(header.e_phoff, header.e_phnum), offsets);
  const auto sections = file.read<Elf64_Shdr>(header.e_shoff, header.e_shnum);
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM})  // the first one has more
    for (const Elf64_Shdr& section : sections)
      if (section.sh_type == type && section.sh_link < sections.size())
        find_names(file, section, sections[section.sh_link], wanted);
  for (const WantedCode& code : wanted) {
    if (code.name == 0) continue;
    std::vector<char> name = file.read<char>(code.name, longest_name);
    name.push_back('\0');
    functions[code.index] = plain_name(name.data());
  }
  return functions;
}

}  // namespace px::os
