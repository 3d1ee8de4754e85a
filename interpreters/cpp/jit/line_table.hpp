#pragma once

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "interpreters/cpp/guard/cell_outcome.hpp"
#include "interpreters/cpp/jit/cell_calls.hpp"

namespace px::cpp {

class CellSources;

/// Finds the cells and lines of machine code. It keeps the debug information of the code that the
/// JIT links, and reads it only when a line is requested.
class LineTable {
 public:
  LineTable() = default;
  ~LineTable();
  LineTable(LineTable&&) = delete;

  /// From here on it records the code that `jit` links. Outlives it.
  /// sources  null, or the files of cells that its debug information names; outlives this.
  void watch(llvm::orc::LLJIT& jit, const CellSources* sources);
  /// Code that is linked from here on belongs to another cell than the code before.  name  "cell
  /// 3".
  void begin_cell(std::string name);
  /// The lines of cells of these calls, and of code inlined there. Each list innermost first.
  std::vector<CellLine> lines_of(std::span<const std::uintptr_t> calls);
  /// The calls at each of these addresses; see also calls_in_cells(). Any thread.
  std::vector<std::vector<CellCall>> calls_at(std::span<const std::uintptr_t> calls);

 private:
  class Plugin;
  struct Code {
    std::uintptr_t end = 0;
    unsigned long cell = 0;
    llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> sections;  // the data that `information`
                                                                    // reads
    std::unique_ptr<llvm::DWARFContext> information;
  };
  llvm::Error add(llvm::jitlink::LinkGraph& graph);
  void add_functions(llvm::jitlink::LinkGraph& graph);

  static constexpr std::size_t max_bytes = 64 << 20;  ///< Code that is linked beyond this has no
                                                      ///< lines.
  std::mutex mutex_;                                  // compiled code may be linked by any thread
  const CellSources* sources_ = nullptr;
  std::map<std::uintptr_t, Code> code_;               // by its first address
  std::size_t bytes_ = 0;
  unsigned long cell_ = 0;
  std::string cell_name_;
};

}  // namespace px::cpp
