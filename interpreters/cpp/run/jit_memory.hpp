#pragma once

#include <llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/MemoryMapper.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace px::cpp {

/// Where the machine code of cells lies: in ranges of addresses that are reserved in one piece, as
/// code reaches what earlier cells have made by distances of 32 bits. Without that, a cell that
/// allocates gigabytes could put later cells too far away. Pages take memory when they are used.
class JitMemory final : public llvm::orc::InProcessMemoryMapper {
 public:
  static constexpr std::size_t usual_bytes = std::size_t{1} << 30;  ///< of one range

  explicit JitMemory(std::size_t page_bytes)
      : InProcessMemoryMapper(page_bytes), page_bytes_(page_bytes) {}
  ~JitMemory() override {
    for (const auto& [begin, bytes] : ranges_) ::munmap(begin, bytes);
  }

  /// At least so many bytes, next to the range before where that is free; fewer than usual where
  /// the process may not have more.
  void reserve(std::size_t bytes, OnReservedFunction on_reserved) override {
    void* const wish = ranges_.empty() ? nullptr : ranges_.back().first + ranges_.back().second;
    for (std::size_t size = std::max(bytes, usual_bytes);; size = std::max(bytes, size / 4)) {
      void* const begin = ::mmap(wish, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (begin != MAP_FAILED) {
        ranges_.emplace_back(static_cast<char*>(begin), size);
        const auto address = llvm::orc::ExecutorAddr::fromPtr(begin);
        return on_reserved(llvm::orc::ExecutorAddrRange(address, address + size));
      }
      if (size == bytes)
        return on_reserved(llvm::createStringError("there is no memory for the code of cells"));
    }
  }

  char* prepare(llvm::jitlink::LinkGraph& graph, llvm::orc::ExecutorAddr address,
                std::size_t bytes) override {
    const std::size_t whole = (bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_;
    ::mprotect(address.toPtr<char*>(), whole, PROT_READ | PROT_WRITE);
    return InProcessMemoryMapper::prepare(graph, address, bytes);
  }

 private:
  std::size_t page_bytes_;
  std::vector<std::pair<char*, std::size_t>> ranges_;
};

/// What links the code of cells, in that memory.
inline llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> make_linking_layer(
    llvm::orc::ExecutionSession& session) {
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return std::make_unique<llvm::orc::ObjectLinkingLayer>(
      session, std::make_unique<llvm::orc::MapperJITLinkMemoryManager>(
                   page_bytes, std::make_unique<JitMemory>(page_bytes)));
}

}  // namespace px::cpp
