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
  std::uint64_t offset = 0;  ///< Position of `begin` in the file.
  std::string path = {};     ///< Empty: memory without a file.
  bool is_deleted = false;   ///< The file no longer exists, or was replaced.

  bool operator==(const MappedCode&) const = default;
};

/// Reads the text of /proc/self/maps: the executable mappings, in their order.
std::vector<MappedCode> read_code_maps(std::string_view maps);
/// The mappings of this process.
std::vector<MappedCode> own_code_maps();
/// The mapping that contains the address; null: none.
const MappedCode* find_code(const std::vector<MappedCode>& maps, std::uintptr_t address);

/// Finds the functions of this process that contain given addresses: it takes no lock of the
/// dynamic loader, which may be held for long while a library is loaded, but reads the files of the
/// libraries, so it may wait for a disk. It remembers its results, bounded. One thread uses it.
class CodeNames {
 public:
  /// maps  the present mappings.
  explicit CodeNames(std::vector<MappedCode> maps = {}) : maps_(std::move(maps)) {}
  /// The mappings have changed.
  void set_maps(std::vector<MappedCode> maps) { maps_ = std::move(maps); }

  /// A frame for each address, in their order.
  std::vector<StackFrame> frames_of(std::span<const std::uintptr_t> addresses);
  /// The file that contains the address; "": none.
  std::string file_of(std::uintptr_t address) const;

 private:
  static constexpr std::size_t most_names = 20'000;
  using Place = std::pair<std::string, std::uint64_t>;  // a file, and an offset in it

  void find_names(std::span<const std::uintptr_t> addresses);

  std::vector<MappedCode> maps_;
  std::map<Place, std::string> names_;
};

}  // namespace px::os
