#include "interpreters/cpp/run/jit_memory.hpp"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace px::cpp {
namespace {

using llvm::orc::ExecutorAddr;
using llvm::orc::MemProt;

/// Constants lie with the code: fewer kinds of memory, fewer mappings.
AddressRanges::Side side_of(MemProt access) {
  const bool may_write =
      (static_cast<unsigned>(access) & static_cast<unsigned>(MemProt::Write)) != 0;
  return may_write ? AddressRanges::Side::top : AddressRanges::Side::bottom;
}

}  // namespace

/// What is linked, for its end.
struct JitMemory::Finalized {
  std::vector<Block> blocks;
  std::vector<llvm::orc::shared::WrapperFunctionCall> at_end;
};

/// What is being linked.
class JitMemory::InFlight final : public InFlightAlloc {
 public:
  InFlight(JitMemory& memory, llvm::jitlink::LinkGraph& graph, std::vector<Block> blocks)
      : memory_(memory), graph_(graph), blocks_(std::move(blocks)) {}

  void finalize(OnFinalizedFunction on_finalized) override {
    for (const Block& block : blocks_) protect(block);
    auto at_end = llvm::orc::shared::runFinalizeActions(graph_.allocActions());
    if (!at_end) {
      give_back_all();
      return on_finalized(at_end.takeError());
    }
    auto finalized = std::make_unique<Finalized>();
    finalized->at_end = std::move(*at_end);
    for (const Block& block : blocks_)
      if (block.is_lasting)
        finalized->blocks.push_back(block);
      else
        memory_.give_back(block);
    on_finalized(FinalizedAlloc(ExecutorAddr::fromPtr(finalized.release())));
  }

  void abandon(OnAbandonedFunction on_abandoned) override {
    give_back_all();
    on_abandoned(llvm::Error::success());
  }

 private:
  static void protect(const Block& block) {
    if (side_of(block.access) == AddressRanges::Side::top) return;  // is as it shall be
    ::mprotect(block.begin, block.bytes, PROT_READ | PROT_EXEC);
    llvm::sys::Memory::InvalidateInstructionCache(block.begin, block.bytes);
  }

  void give_back_all() {
    for (const Block& block : blocks_) memory_.give_back(block);
  }

  JitMemory& memory_;
  llvm::jitlink::LinkGraph& graph_;
  std::vector<Block> blocks_;
};

JitMemory::~JitMemory() {
  for (const auto& [begin, bytes] : ranges_) ::munmap(begin, bytes);
}

void JitMemory::allocate(const llvm::jitlink::JITLinkDylib*, llvm::jitlink::LinkGraph& graph,
                         OnAllocatedFunction on_allocated) {
  llvm::jitlink::BasicLayout layout(graph);
  auto sizes = layout.getContiguousPageBasedLayoutSizes(page_bytes_);
  if (!sizes) return on_allocated(sizes.takeError());  // what must lie at more than a page
  std::vector<Block> blocks;
  llvm::Error error = llvm::Error::success();
  for (auto& [group, segment] : layout.segments()) {
    // A function that ends nowhere has no code, but an address near the others.
    const std::size_t bytes = std::max<std::size_t>(segment.ContentSize + segment.ZeroFillSize, 1);
    auto block = take((bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_, group);
    if (!block) {
      error = llvm::joinErrors(std::move(error), block.takeError());
      break;
    }
    segment.WorkingMem = block->begin;
    segment.Addr = ExecutorAddr::fromPtr(block->begin);
    blocks.push_back(*block);
  }
  if (!error) error = layout.apply();
  if (error) {
    for (const Block& block : blocks) give_back(block);
    return on_allocated(std::move(error));
  }
  on_allocated(std::make_unique<InFlight>(*this, graph, std::move(blocks)));
}

void JitMemory::deallocate(std::vector<FinalizedAlloc> allocations,
                           OnDeallocatedFunction on_deallocated) {
  llvm::Error error = llvm::Error::success();
  for (auto each = allocations.rbegin(); each != allocations.rend(); ++each) {
    const std::unique_ptr<Finalized> finalized(each->release().toPtr<Finalized*>());
    error = llvm::joinErrors(std::move(error),
                             llvm::orc::shared::runDeallocActions(finalized->at_end));
    for (const Block& block : finalized->blocks) give_back(block);
  }
  on_deallocated(std::move(error));
}

/// Memory that may be written, with zeros in it.
llvm::Expected<JitMemory::Block> JitMemory::take(std::size_t bytes, llvm::orc::AllocGroup group) {
  const std::lock_guard lock{mutex_};
  const auto side = side_of(group.getMemProt());
  auto begin = addresses_.take(bytes, side);
  if (!begin) {
    if (llvm::Error error = reserve(bytes)) return error;
    begin = addresses_.take(bytes, side);
  }
  Block block{reinterpret_cast<char*>(*begin), bytes, group.getMemProt(),
              group.getMemLifetime() == llvm::orc::MemLifetime::Standard};
  if (::mprotect(block.begin, bytes, PROT_READ | PROT_WRITE) == 0) return block;
  addresses_.give_back(*begin, bytes, side);
  return llvm::createStringError("there is no memory for the code of cells");
}

/// At least so many bytes, next to the range before where that is free; fewer than usual where the
/// process may not have more.
llvm::Error JitMemory::reserve(std::size_t bytes) {
  void* const wish = ranges_.empty() ? nullptr : ranges_.back().first + ranges_.back().second;
  for (std::size_t size = std::max(bytes, usual_bytes);; size = std::max(bytes, size / 4)) {
    void* const begin = ::mmap(wish, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin != MAP_FAILED) {
      ranges_.emplace_back(static_cast<char*>(begin), size);
      addresses_.add(reinterpret_cast<std::uintptr_t>(begin), size);
      return llvm::Error::success();
    }
    if (size == bytes) return llvm::createStringError("there is no memory for the code of cells");
  }
}

void JitMemory::give_back(const Block& block) {
  const std::lock_guard lock{mutex_};
  ::madvise(block.begin, block.bytes, MADV_DONTNEED);
  addresses_.give_back(reinterpret_cast<std::uintptr_t>(block.begin), block.bytes,
                       side_of(block.access));
}

llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> make_linking_layer(
    llvm::orc::ExecutionSession& session) {
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return std::make_unique<llvm::orc::ObjectLinkingLayer>(session,
                                                         std::make_unique<JitMemory>(page_bytes));
}

}  // namespace px::cpp
