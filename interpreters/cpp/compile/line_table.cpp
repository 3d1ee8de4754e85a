#include "interpreters/cpp/compile/line_table.hpp"

#include <llvm/ExecutionEngine/Orc/Debugging/DebugInfoSupport.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "interpreters/cpp/cells/cell_text.hpp"

namespace px::cpp {
namespace {

const llvm::DILineInfoSpecifier with_names{llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue,
                                           llvm::DILineInfoSpecifier::FunctionNameKind::ShortName};

/// The name of a cell is no path: it has neither a slash nor a dot.
bool is_cell(const std::string& file) {
  return !file.empty() && file.find_first_of("/.<") == std::string::npos;
}

}  // namespace

class LineTable::Plugin final : public llvm::orc::ObjectLinkingLayer::Plugin {
 public:
  explicit Plugin(LineTable& table) : table_(table) {}
  void modifyPassConfig(llvm::orc::MaterializationResponsibility&, llvm::jitlink::LinkGraph&,
                        llvm::jitlink::PassConfiguration& passes) override {
    passes.PrePrunePasses.push_back(llvm::orc::preserveDebugSections);
    passes.PostFixupPasses.push_back(
        [this](llvm::jitlink::LinkGraph& graph) { return table_.add(graph); });
  }
  llvm::Error notifyFailed(llvm::orc::MaterializationResponsibility&) override {
    return llvm::Error::success();
  }
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey,
                                   llvm::orc::ResourceKey) override {}

 private:
  LineTable& table_;
};

void LineTable::watch(llvm::orc::LLJIT& jit) {
  if (auto* layer = llvm::dyn_cast<llvm::orc::ObjectLinkingLayer>(&jit.getObjLinkingLayer()))
    layer->addPlugin(std::make_shared<Plugin>(*this));
}

llvm::Error LineTable::add(llvm::jitlink::LinkGraph& graph) {
  std::uintptr_t begin = std::numeric_limits<std::uintptr_t>::max(), end = 0;
  for (const llvm::jitlink::Section& section : graph.sections()) {
    const auto access = static_cast<unsigned>(section.getMemProt());
    if ((access & static_cast<unsigned>(llvm::orc::MemProt::Exec)) == 0) continue;
    for (const llvm::jitlink::Block* block : section.blocks()) {
      const llvm::orc::ExecutorAddrRange range = block->getRange();
      begin = std::min<std::uintptr_t>(begin, range.Start.getValue());
      end = std::max<std::uintptr_t>(end, range.End.getValue());
    }
  }
  if (begin >= end) return llvm::Error::success();
  auto made = llvm::orc::createDWARFContext(graph);
  if (!made) {  // a cell without lines runs as well
    llvm::consumeError(made.takeError());
    return llvm::Error::success();
  }
  std::size_t size = 0;
  for (const auto& section : made->second) size += section.second->getBufferSize();
  const std::lock_guard lock{mutex_};
  if (bytes_ + size > max_bytes) return llvm::Error::success();
  bytes_ += size;
  code_.insert_or_assign(begin, Code{end, cell_, std::move(made->second), std::move(made->first)});
  return llvm::Error::success();
}

void LineTable::begin_cell() {
  const std::lock_guard lock{mutex_};
  ++cell_;
}

std::vector<CellLine> LineTable::lines_of(std::span<const std::uintptr_t> calls) {
  const std::lock_guard lock{mutex_};
  std::vector<CellLine> lines;
  bool is_wrapped = false;
  for (const std::uintptr_t call : calls) {
    auto code = code_.upper_bound(call);
    if (code == code_.begin() || call >= (--code)->second.end) continue;
    const llvm::DIInliningInfo frames = code->second.information->getInliningInfoForAddress(
        {call, llvm::object::SectionedAddress::UndefSection}, with_names);
    for (std::uint32_t i = 0; i < frames.getNumberOfFrames(); ++i) {
      const llvm::DILineInfo& frame = frames.getFrame(i);
      if (frame.Line == 0 || !is_cell(frame.FileName)) continue;
      // A function around a statement is not the user's, nor is its call.
      if (!std::exchange(is_wrapped, is_wrapper(frame.FunctionName)))
        lines.push_back({frame.FileName, static_cast<int>(frame.Line), code->second.cell == cell_});
    }
  }
  return lines;
}

}  // namespace px::cpp
