#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace px::cpp {

/// A change of a text: `text` replaces `length` bytes at `offset`.
struct TextEdit {
  std::size_t offset = 0;
  std::size_t length = 0;
  std::string text = {};
  std::string in = {};  ///< "" for the cell, or the path of a header that it reads.
};

/// The text of a cell to compile, and the texts of the headers of which it reads new versions, by
/// the paths under which it includes them.
struct SourceText {
  std::string cell;
  std::map<std::string, std::string> headers = {};
};

/// The texts with all the edits; two at the same position count as one, and edits of other texts
/// are ignored.
SourceText apply_edits(SourceText source, const std::vector<TextEdit>& edits);

}  // namespace px::cpp
