#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace px::cpp {

/// The texts of cells as files, for debuggers: editors set breakpoints by the path of a file and
/// show the file where a program has stopped. The name of a file depends only on the text. So all
/// ranks that run a cell name the same file, and breakpoints stay when the cell is run again.
///
/// The compiler and its messages name a cell "cell 3"; only debug information names files. Any
/// thread may call cell_of(), one thread makes all other calls.
class CellSources {
 public:
  /// folder  made when it is needed. Removes files that no session has used for a month.
  explicit CellSources(std::filesystem::path folder);

  /// Writes the file of this text. Code that is compiled for `name` from here on is of this file.
  /// Code keeps the name of the cell as its file if the folder cannot be written.
  void add(const std::string& name, const std::string& text);
  /// Makes the debug information of a module name the files of cells.
  void name_files(llvm::Module& module) const;
  /// The latest cell with this file, which is named without its folder; `file` if it is of no cell.
  std::string cell_of(const std::string& file) const;

 private:
  const std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> files_;  // by the names of cells; names without the folder
  std::map<std::string, std::string> cells_;  // by the names of files
};

/// Tells debuggers about the code that `jit` links, by GDB's JIT interface.
llvm::Error show_code_to_debuggers(llvm::orc::LLJIT& jit);

}  // namespace px::cpp
