#pragma once

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Layer.h>

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "interpreters/cpp/jit/page_area.hpp"

namespace px::cpp {

/// The memory for the machine code of cells: ranges of addresses that are reserved in one piece,
/// because code reaches code of earlier cells by distances of 32 bits. Without that, a cell that
/// allocates gigabytes could push later cells too far away. Pages take memory only when they are
/// used.
///
/// In a range, the code of all cells is contiguous, and so are their constants and their variables:
/// the system joins neighbours with the same protection into one mapping. It allows a process few
/// mappings (65,530 by default), and each one makes a fork slower, which the check of a cell needs.
class JitMemory final : public llvm::jitlink::JITLinkMemoryManager {
 public:
  static constexpr std::size_t usual_bytes = std::size_t{256} << 20;  ///< for each kind in a range

  explicit JitMemory(std::size_t page_bytes);
  ~JitMemory() override;
  JitMemory(JitMemory&&) = delete;

  /// errors  there is no memory, or a part of the graph is aligned to more than a page.
  void allocate(const llvm::jitlink::JITLinkDylib* library, llvm::jitlink::LinkGraph& graph,
                OnAllocatedFunction on_allocated) override;
  void deallocate(std::vector<FinalizedAlloc> pieces, OnDeallocatedFunction on_done) override;
  using JITLinkMemoryManager::allocate;
  using JITLinkMemoryManager::deallocate;

 private:
  enum MemoryKind { code, constants, variables, kinds };
  using Sizes = std::array<std::size_t, kinds>;
  struct Range;
  struct Segment;
  struct Held;
  class Piece;

  static MemoryKind kind_of(llvm::orc::AllocGroup group);
  bool take(std::vector<Segment>& segments);
  bool reserve(const Sizes& needed);
  llvm::Error protect(const Segment& segment) const;
  void give_back(const Segment& segment);

  const std::size_t page_bytes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Range>> ranges_;
};

/// The layer that links the code of cells, in that memory.
llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> make_linking_layer(
    llvm::orc::ExecutionSession& session);

}  // namespace px::cpp
