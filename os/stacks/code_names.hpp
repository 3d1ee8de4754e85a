#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/stacks/process_stacks.hpp"

namespace px::os {

/// A part of a file that is mapped as code.
struct MappedCode {
  std::uintptr_t begin = 0, end = 0;
  std::uint64_t offset = 0;  ///< Of `begin` in the file.
  std::string path = {};     ///< Empty: memory without a file.
  bool is_deleted = false;   ///< The file is not there any more, or was replaced.

  bool operator==(const MappedCode&) const = default;
};

/// Reads the text of /proc/self/maps: the mappings that can be executed, in their order.
std::vector<MappedCode> read_code_maps(std::string_view maps);
/// Those of this process.
std::vector<MappedCode> own_code_maps();
/// The one that has the address; null: none.
const MappedCode* find_code(const std::vector<MappedCode>& maps, std::uintptr_t address);

/// Names the functions of this process in which addresses lie: takes no lock of the dynamic loader,
/// which a library that is being loaded may hold for long, but reads the files of the libraries. So
/// it may wait for a disk. Remembers what it has found, bounded. One thread uses it.
class CodeNames {
 public:
  /// maps  what is mapped now.
  explicit CodeNames(std::vector<MappedCode> maps = {}) : maps_(std::move(maps)) {}
  /// What is mapped has changed.
  void set_maps(std::vector<MappedCode> maps) { maps_ = std::move(maps); }

  /// A frame for each address, in their order.
  std::vector<StackFrame> frames_of(std::span<const std::uintptr_t> addresses);
  /// The file that has the address; "": none.
  std::string file_of(std::uintptr_t address) const;

 private:
  static constexpr std::size_t most_names = 20'000;
  using Place = std::pair<std::string, std::uint64_t>;  // a file, and an offset there

  void find_names(std::span<const std::uintptr_t> addresses);

  std::vector<MappedCode> maps_;
  std::map<Place, std::string> names_;
};

}  // namespace px::os
