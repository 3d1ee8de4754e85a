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

/// One `#include` of a header of the user, as the compiler processed it: also one that it skipped
/// because of an include guard.
struct Inclusion {
  std::string in = {};     ///< The file that contains it; "" for the cell itself.
  std::string path = {};   ///< Absolute path of the header. It may be one of version_path().
  std::size_t offset = 0;  ///< The position in `in` of the header's name with its quotes or
                           ///< brackets.
  std::size_t length = 0;  ///< The length of that name.
  std::size_t stamp = 0;   ///< stamp_of_text() of the compiler's copy of the file.
};

/// The replacement for the header of an inclusion.
struct NewerHeader {
  /// The version to include; "" if a new one must be made from the file.
  std::string version = {};
  /// Whether it is a new one: the cells' declarations from the header, and its macros, are out of
  /// date.
  bool has_changed = false;
};

/// The compiler keeps each file as it was first read. A later version of it has a different path,
/// in the same folder, so that its own inclusions are found. No such file exists.
std::string version_path(const std::string& header, int version);
/// The header of which a path is a version; the path itself if it is not a version.
std::string header_of_version(const std::string& path);

/// A number that differs for different texts, for all practical purposes.
std::size_t stamp_of_text(std::string_view text);

/// Whether `#pragma once` or an include guard, `#ifndef X` with `#define X`, prevents that the text
/// is compiled twice.
bool has_include_guard(const std::string& text);

/// The headers of the user that the cells have compiled, and which of them must be read again:
/// those that have changed, or include one that has, and those without an include guard. A value:
/// it reads files through the function that it is given.
class HeaderVersions {
 public:
  /// The present text of a file; nothing if it cannot be read.
  using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

  /// Whether no header was compiled, so that nothing can be out of date.
  bool is_empty() const { return headers_.empty(); }

  /// The headers for which the `inclusions` of one cell must name another version.
  std::map<std::string, NewerHeader> newer(const std::vector<Inclusion>& inclusions,
                                           const ReadFile& read_file) const;

  /// A cell with these inclusions was compiled.
  /// made  the headers of which it has read a new version: path of the version, and the stamp of
  ///       the file from which it was made.
  void note(const std::vector<Inclusion>& inclusions,
            const std::map<std::string, std::size_t>& made);

 private:
  struct KnownHeader {
    std::size_t stamp = 0;     ///< Of the file when it was last compiled.
    std::string version = {};  ///< The version that was last compiled; "" for the file itself.
    std::set<std::string> includes = {};
  };
  std::map<std::string, KnownHeader> headers_;
};

}  // namespace px::cpp
