#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace px::cpp {

/// One `#include` of a header of the user, as the compiler met it: also one that it skipped because
/// of an include guard.
struct Inclusion {
  std::string in = {};     ///< The file that it stands in; "" for the cell itself.
  std::string path = {};   ///< Of the header, absolute. It may be one of version_path().
  std::size_t offset = 0;  ///< Where the header's name with its quotes or brackets begins in `in`.
  std::size_t length = 0;  ///< Of that name.
  std::size_t stamp = 0;   ///< stamp_of_text() of what the compiler keeps of the file.
};

/// What an inclusion must name in place of its header.
struct NewerHeader {
  /// The version that is to be included; "" where a new one must be made of the file.
  std::string version = {};
  /// A new one: what the cells have of the header, its macros too, is out of date.
  bool has_changed = false;
};

/// The compiler keeps each file as it was first read. A later version of it has a path of its own,
/// in the same folder, so that its own inclusions are found. No such file exists.
std::string version_path(const std::string& header, int version);
/// The header that a path is a version of; the path itself where it is none.
std::string header_of_version(const std::string& path);

/// Another number for another text, as far as anybody can tell.
std::size_t stamp_of_text(std::string_view text);

/// Whether `#pragma once` or an include guard, `#ifndef X` with `#define X`, keeps the text from
/// being compiled twice.
bool has_include_guard(const std::string& text);

/// Which headers of the user the cells have compiled, and which of them must be read again: those
/// that have changed, or include one that has, and those without an include guard. A value: it
/// sees files through the function that it is given.
class HeaderVersions {
 public:
  /// The text of a file as it is now; nothing where it cannot be read.
  using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

  /// Whether any header was compiled; otherwise nothing can be out of date.
  bool is_empty() const { return headers_.empty(); }

  /// The headers that must not be included as `inclusions` name them, all of one cell.
  std::map<std::string, NewerHeader> newer(const std::vector<Inclusion>& inclusions,
                                           const ReadFile& read_file) const;

  /// A cell with these inclusions was compiled.
  /// made  the headers that it has read in a new version: path of the version, and the stamp of
  ///       the file that it was made of.
  void note(const std::vector<Inclusion>& inclusions,
            const std::map<std::string, std::size_t>& made);

 private:
  struct KnownHeader {
    std::size_t stamp = 0;       ///< Of the file when it was compiled last.
    std::string version = {};    ///< What was compiled last; "" for the file itself.
    std::set<std::string> includes = {};
  };
  std::map<std::string, KnownHeader> headers_;
};

}  // namespace px::cpp
