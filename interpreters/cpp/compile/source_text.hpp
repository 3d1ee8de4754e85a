#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace px::cpp {

/// A change of a text: `length` bytes at `offset` give way to `text`.
struct TextEdit {
  std::size_t offset = 0;
  std::size_t length = 0;
  std::string text = {};
  std::string in = {};  ///< "" for the cell, or the path of a header that it reads.
};

/// What is compiled of a cell: its text, and those of the headers of which it reads new versions,
/// by the paths under which it includes them.
struct SourceText {
  std::string cell;
  std::map<std::string, std::string> headers = {};
};

/// The texts with all the edits; two of the same place are one, and what is not of these texts is
/// left out.
SourceText apply_edits(SourceText source, const std::vector<TextEdit>& edits);

}  // namespace px::cpp
