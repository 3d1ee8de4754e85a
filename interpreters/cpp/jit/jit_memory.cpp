#include "interpreters/cpp/jit/jit_memory.hpp"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/Memory.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>

namespace px::cpp {

using llvm::orc::AllocGroup;
using llvm::orc::MemLifetime;

/// A part of an object, in whole pages.
struct JitMemory::Segment {
  AllocGroup group;
  std::size_t bytes = 0;
  char* begin = nullptr;
  Range* range = nullptr;
};

/// Addresses, and which of them are taken for each kind.
struct JitMemory::Range {
  char* begin;
  std::size_t bytes;
  std::array<PageArea, kinds> areas;

  /// All of them or none.
  bool take(std::vector<Segment>& segments) {
    for (std::size_t i = 0; i < segments.size(); ++i) {
      Segment& each = segments[i];
      const auto place = areas[kind_of(each.group)].take(each.bytes);
      if (!place) {
        for (const Segment& taken : std::span(segments).first(i)) give_back(taken);
        return false;
      }
      each.begin = begin + *place;
      each.range = this;
    }
    return true;
  }
  void give_back(const Segment& segment) {
    areas[kind_of(segment.group)].give_back(static_cast<std::size_t>(segment.begin - begin),
                                            segment.bytes);
  }
};

/// What an object has until it is removed from the program.
struct JitMemory::Held {
  std::vector<Segment> segments;
  std::vector<llvm::orc::shared::WrapperFunctionCall> last_calls;
};

/// The memory of an object that is being linked.
class JitMemory::Piece final : public InFlightAlloc {
 public:
  Piece(JitMemory& memory, llvm::jitlink::LinkGraph& graph, std::vector<Segment> segments)
      : memory_(memory), graph_(graph), segments_(std::move(segments)) {}

  void finalize(OnFinalizedFunction on_finalized) override {
    for (const Segment& each : segments_)
      if (llvm::Error error = memory_.protect(each)) return fail(std::move(error), on_finalized);
    auto last_calls = llvm::orc::shared::runFinalizeActions(graph_.allocActions());
    if (!last_calls) return fail(last_calls.takeError(), on_finalized);
    auto held = std::make_unique<Held>();
    held->last_calls = std::move(*last_calls);
    for (const Segment& each : segments_)
      if (each.group.getMemLifetime() == MemLifetime::Finalize)
        memory_.give_back(each);
      else
        held->segments.push_back(each);
    on_finalized(FinalizedAlloc(llvm::orc::ExecutorAddr::fromPtr(held.release())));
  }

  void abandon(OnAbandonedFunction on_abandoned) override {
    give_back();
    on_abandoned(llvm::Error::success());
  }

 private:
  void fail(llvm::Error error, OnFinalizedFunction& on_finalized) {
    give_back();
    on_finalized(std::move(error));
  }
  void give_back() {
    for (const Segment& each : segments_) memory_.give_back(each);
  }

  JitMemory& memory_;
  llvm::jitlink::LinkGraph& graph_;
  std::vector<Segment> segments_;
};

JitMemory::JitMemory(std::size_t page_bytes) : page_bytes_(page_bytes) {}

JitMemory::~JitMemory() {
  for (const auto& each : ranges_) ::munmap(each->begin, each->bytes);
}

JitMemory::MemoryKind JitMemory::kind_of(AllocGroup group) {
  const unsigned flags = llvm::orc::toSysMemoryProtectionFlags(group.getMemProt());
  if (flags & llvm::sys::Memory::MF_EXEC) return code;
  return flags & llvm::sys::Memory::MF_WRITE ? variables : constants;
}

void JitMemory::allocate(const llvm::jitlink::JITLinkDylib*, llvm::jitlink::LinkGraph& graph,
                         OnAllocatedFunction on_allocated) {
  llvm::jitlink::BasicLayout layout(graph);
  auto sizes = layout.getContiguousPageBasedLayoutSizes(page_bytes_);
  if (!sizes) return on_allocated(sizes.takeError());
  std::vector<Segment> segments;
  for (auto& [group, segment] : layout.segments()) {
    const std::size_t bytes = segment.ContentSize + segment.ZeroFillSize;
    segments.push_back({group, (bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_});
  }
  if (!take(segments))
    return on_allocated(llvm::createStringError("there is no memory for the code of cells"));
  auto next = segments.begin();
  for (auto& [group, segment] : layout.segments()) {
    segment.WorkingMem = next->begin;
    segment.Addr = llvm::orc::ExecutorAddr::fromPtr(next->begin);
    ++next;
  }
  auto piece = std::make_unique<Piece>(*this, graph, std::move(segments));
  if (llvm::Error error = layout.apply()) return on_allocated(std::move(error));
  on_allocated(std::move(piece));
}

void JitMemory::deallocate(std::vector<FinalizedAlloc> pieces, OnDeallocatedFunction on_done) {
  llvm::Error errors = llvm::Error::success();
  for (auto each = pieces.rbegin(); each != pieces.rend(); ++each) {
    const std::unique_ptr<Held> held(each->release().toPtr<Held*>());
    errors =
        llvm::joinErrors(std::move(errors), llvm::orc::shared::runDeallocActions(held->last_calls));
    for (const Segment& segment : held->segments) give_back(segment);
  }
  on_done(std::move(errors));
}

/// All segments in the same range: readable, writable and full of zeros.
bool JitMemory::take(std::vector<Segment>& segments) {
  Sizes needed{};
  for (const Segment& each : segments) needed[kind_of(each.group)] += each.bytes;
  {
    const std::lock_guard lock(mutex_);
    const auto has_room = [&](const auto& range) { return range->take(segments); };
    if (std::none_of(ranges_.rbegin(), ranges_.rend(), has_room) &&
        (!reserve(needed) || !has_room(ranges_.back())))
      return false;
  }
  const bool is_writable = std::all_of(segments.begin(), segments.end(), [](const Segment& each) {
    return ::mprotect(each.begin, each.bytes, PROT_READ | PROT_WRITE) == 0;
  });
  if (!is_writable)
    for (const Segment& each : segments) give_back(each);
  return is_writable;
}

/// Next to the range before where that is free, for at least so many bytes; for fewer than usual
/// where the process may not have more.
bool JitMemory::reserve(const Sizes& needed) {
  void* const wish = ranges_.empty() ? nullptr : ranges_.back()->begin + ranges_.back()->bytes;
  for (std::size_t usual = usual_bytes;; usual = usual > page_bytes_ ? usual / 4 : 0) {
    Sizes ends{};
    std::size_t end = 0;
    for (std::size_t kind = 0; kind < kinds; ++kind)
      ends[kind] = end += std::max(needed[kind], usual);
    void* const begin =
        ::mmap(wish, end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin != MAP_FAILED) {
      ranges_.push_back(std::make_unique<Range>(
          Range{static_cast<char*>(begin),
                end,
                {PageArea{0, ends[code]}, PageArea{ends[code], ends[constants] - ends[code]},
                 PageArea{ends[constants], end - ends[constants]}}}));
      return true;
    }
    if (usual == 0) return false;
  }
}

llvm::Error JitMemory::protect(const Segment& segment) const {
  const auto flags = llvm::orc::toSysMemoryProtectionFlags(segment.group.getMemProt());
  const llvm::sys::MemoryBlock block(segment.begin, segment.bytes);
  if (const std::error_code error = llvm::sys::Memory::protectMappedMemory(block, flags))
    return llvm::errorCodeToError(error);
  if (kind_of(segment.group) == code)
    llvm::sys::Memory::InvalidateInstructionCache(segment.begin, segment.bytes);
  return llvm::Error::success();
}

/// Its pages are full of zeros when they are taken again. They stay as they are protected, next to
/// others of the kind.
void JitMemory::give_back(const Segment& segment) {
  ::madvise(segment.begin, segment.bytes, MADV_DONTNEED);
  const std::lock_guard lock(mutex_);
  segment.range->give_back(segment);
}

llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> make_linking_layer(
    llvm::orc::ExecutionSession& session) {
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return std::make_unique<llvm::orc::ObjectLinkingLayer>(session,
                                                         std::make_unique<JitMemory>(page_bytes));
}

}  // namespace px::cpp
