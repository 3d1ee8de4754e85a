#include "os/stacks/code_names.hpp"

#include <algorithm>
#include <charconv>

#include "os/private_file.hpp"
#include "os/stacks/elf_functions.hpp"

namespace px::os {
namespace {

constexpr std::string_view deleted_mark = " (deleted)";

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

template <class Number>
Number read_hex(std::string_view digits) {
  Number number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

/// "7f01-7f02 r-xp 00001000 fe:01 1234   /usr/lib/libm.so.6"
MappedCode read_mapping(std::string_view line, bool& is_code) {
  const std::string_view range = take_word(line), access = take_word(line);
  is_code = access.size() > 2 && access[2] == 'x';
  const std::size_t dash = std::min(range.find('-'), range.size());
  MappedCode code{.begin = read_hex<std::uintptr_t>(range.substr(0, dash)),
                  .end = read_hex<std::uintptr_t>(range.substr(std::min(dash + 1, range.size()))),
                  .offset = read_hex<std::uint64_t>(take_word(line))};
  take_word(line);
  take_word(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  code.is_deleted = line.ends_with(deleted_mark);
  if (code.is_deleted) line.remove_suffix(deleted_mark.size());
  code.path = line;
  return code;
}

}  // namespace

std::vector<MappedCode> read_code_maps(std::string_view maps) {
  std::vector<MappedCode> all;
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    bool is_code = false;
    MappedCode code = read_mapping(maps.substr(0, end), is_code);
    if (is_code) all.push_back(std::move(code));
    maps.remove_prefix(std::min(end + 1, maps.size()));
  }
  return all;
}

std::vector<MappedCode> own_code_maps() {
  const auto maps = read_file("/proc/self/maps");
  return maps ? read_code_maps(*maps) : std::vector<MappedCode>{};
}

const MappedCode* find_code(const std::vector<MappedCode>& maps, std::uintptr_t address) {
  const auto found = std::find_if(maps.begin(), maps.end(), [&](const MappedCode& code) {
    return address >= code.begin && address < code.end;
  });
  return found == maps.end() ? nullptr : &*found;
}

std::string CodeNames::file_of(std::uintptr_t address) const {
  const MappedCode* const code = find_code(maps_, address);
  return code ? code->path : "";
}

void CodeNames::find_names(std::span<const std::uintptr_t> addresses) {
  if (names_.size() > most_names) names_.clear();
  std::map<std::string, std::vector<std::uint64_t>> unknown;
  for (const std::uintptr_t address : addresses) {
    const MappedCode* const code = find_code(maps_, address);
    if (!code || code->is_deleted || !code->path.starts_with('/')) continue;
    const std::uint64_t offset = address - code->begin + code->offset;
    if (names_.try_emplace({code->path, offset}).second) unknown[code->path].push_back(offset);
  }
  for (const auto& [path, offsets] : unknown) {
    const std::vector<std::string> functions = functions_of_elf(path, offsets);
    for (std::size_t i = 0; i < offsets.size(); ++i) names_[{path, offsets[i]}] = functions[i];
  }
}

std::vector<StackFrame> CodeNames::frames_of(std::span<const std::uintptr_t> addresses) {
  find_names(addresses);
  std::vector<StackFrame> frames;
  for (const std::uintptr_t address : addresses) {
    StackFrame& frame = frames.emplace_back();
    const MappedCode* const code = find_code(maps_, address);
    if (!code || code->path.empty()) continue;
    frame.file = code->path;
    const std::uint64_t offset = address - code->begin + code->offset;
    if (const auto name = names_.find({code->path, offset}); name != names_.end())
      frame.function = name->second;
    if (frame.function.empty()) frame.offset = offset;
  }
  return frames;
}

}  // namespace px::os
