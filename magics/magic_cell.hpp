#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace px::magics {

/// One parallel magic in a cell: `%px code`, `%%px --targets=0:2` with the rest of the cell.
struct MagicCall {
  std::string name;  ///< "px", "cpp", "autopx", "pxresult" ...
  std::string line;  ///< The rest of the line.
  std::string cell;  ///< For a cell magic: all lines below.
  bool is_cell = false;
  bool operator==(const MagicCall&) const = default;
};

/// A cell of a kernel that has no magics of its own, split.
struct MagicCell {
  std::vector<MagicCall> calls;
  std::string code;  ///< The rest for the kernel's own language; with as many lines as the cell.
};

/// Magics precede all code: `%%px` and `%%cpp` in the first line, or line magics, one in each line.
/// Other lines that begin with '%' belong to the code.
MagicCell split_cell(std::string_view cell);

}  // namespace px::magics
