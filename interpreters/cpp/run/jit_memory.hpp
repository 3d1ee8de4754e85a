#pragma once

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "interpreters/cpp/run/address_ranges.hpp"

namespace px::cpp {

/// Where the machine code of cells lies: in ranges of addresses that are reserved in one piece, as
/// code reaches what earlier cells have made by distances of 32 bits. Without that, a cell that
/// allocates gigabytes could put later cells too far away. Pages take memory when they are used.
class JitMemory final : public llvm::jitlink::JITLinkMemoryManager {
 public:
  static constexpr std::size_t usual_bytes = std::size_t{1} << 30;  ///< of one range

  explicit JitMemory(std::size_t page_bytes) : page_bytes_(page_bytes) {}
  ~JitMemory() override;

  using JITLinkMemoryManager::allocate;
  using JITLinkMemoryManager::deallocate;
  void allocate(const llvm::jitlink::JITLinkDylib* dylib, llvm::jitlink::LinkGraph& graph,
                OnAllocatedFunction on_allocated) override;
  void deallocate(std::vector<FinalizedAlloc> allocations,
                  OnDeallocatedFunction on_deallocated) override;

 private:
  struct Block {
    char* begin = nullptr;
    std::size_t bytes = 0;
    llvm::orc::MemProt access = {};
    bool is_lasting = true;  ///< Else only until its code was finalized.
  };
  struct Finalized;
  class InFlight;

  llvm::Expected<Block> take(std::size_t bytes, llvm::orc::AllocGroup group);
  llvm::Error reserve(std::size_t bytes);
  void give_back(const Block& block);

  std::size_t page_bytes_;
  std::mutex mutex_;
  AddressRanges addresses_;
  std::vector<std::pair<char*, std::size_t>> ranges_;
};

/// What links the code of cells, in that memory.
llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> make_linking_layer(
    llvm::orc::ExecutionSession& session);

}  // namespace px::cpp
