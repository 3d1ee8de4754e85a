#include "interpreters/cpp/jit/line_table.hpp"

#include <llvm/ExecutionEngine/Orc/Debugging/DebugInfoSupport.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/jit/cell_code.hpp"
#include "interpreters/cpp/jit/cell_sources.hpp"

namespace px::cpp {
namespace {

using Addresses = std::pair<std::uintptr_t, std::uintptr_t>;  // the first one, that behind the last

std::vector<Addresses> blocks_of_code(llvm::jitlink::LinkGraph& graph) {
  std::vector<Addresses> blocks;
  for (const llvm::jitlink::Section& section : graph.sections()) {
    const auto access = static_cast<unsigned>(section.getMemProt());
    if ((access & static_cast<unsigned>(llvm::orc::MemProt::Exec)) == 0) continue;
    for (const llvm::jitlink::Block* block : section.blocks()) {
      const llvm::orc::ExecutorAddrRange range = block->getRange();
      blocks.emplace_back(range.Start.getValue(), range.End.getValue());
    }
  }
  return blocks;
}

const llvm::DILineInfoSpecifier with_names{llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue,
                                           llvm::DILineInfoSpecifier::FunctionNameKind::ShortName};

/// "total(double*)"; empty: code outside of functions.
std::string function_of_cell(std::uintptr_t address) {
  const char* const known = CellCode::name_of(address);
  const std::string name = known ? known : "";
  return name.starts_with("code of ") ? "" : name.substr(0, name.rfind(" ("));
}

std::mutex newest_mutex;  // taken before that of a table
LineTable* newest_table = nullptr;

}  // namespace

class LineTable::Plugin final : public llvm::orc::ObjectLinkingLayer::Plugin {
 public:
  explicit Plugin(LineTable& table) : table_(table) {}
  void modifyPassConfig(llvm::orc::MaterializationResponsibility&, llvm::jitlink::LinkGraph&,
                        llvm::jitlink::PassConfiguration& passes) override {
    passes.PrePrunePasses.push_back(llvm::orc::preserveDebugSections);
    passes.PostFixupPasses.push_back([this](llvm::jitlink::LinkGraph& graph) {
      table_.add_functions(graph);
      return table_.add(graph);
    });
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

LineTable::~LineTable() {
  const std::lock_guard lock{newest_mutex};
  if (newest_table == this) newest_table = nullptr;
}

void LineTable::watch(llvm::orc::LLJIT& jit, const CellSources* sources) {
  sources_ = sources;
  {
    const std::lock_guard lock{newest_mutex};
    newest_table = this;
  }
  if (auto* layer = llvm::dyn_cast<llvm::orc::ObjectLinkingLayer>(&jit.getObjLinkingLayer()))
    layer->addPlugin(std::make_shared<Plugin>(*this));
}

llvm::Error LineTable::add(llvm::jitlink::LinkGraph& graph) {
  std::uintptr_t begin = std::numeric_limits<std::uintptr_t>::max(), end = 0;
  for (const auto& [block_begin, block_end] : blocks_of_code(graph)) {
    begin = std::min(begin, block_begin);
    end = std::max(end, block_end);
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

void LineTable::add_functions(llvm::jitlink::LinkGraph& graph) {
  std::string cell;
  {
    const std::lock_guard lock{mutex_};
    cell = cell_name_;
  }
  for (const auto& [begin, end] : blocks_of_code(graph)) CellCode::add(begin, end, "", cell);
  for (const llvm::jitlink::Symbol* symbol : graph.defined_symbols()) {
    // Others are instances of templates and the like.
    if (!symbol->isCallable() || !symbol->hasName() || symbol->getSize() == 0 ||
        symbol->getLinkage() != llvm::jitlink::Linkage::Strong)
      continue;
    const std::uintptr_t begin = symbol->getAddress().getValue();
    CellCode::add(begin, begin + symbol->getSize(), std::string_view(*symbol->getName()), cell);
  }
}

void LineTable::begin_cell(std::string name) {
  const std::lock_guard lock{mutex_};
  ++cell_;
  cell_name_ = std::move(name);
}

std::vector<std::vector<CellCall>> LineTable::calls_at(std::span<const std::uintptr_t> calls) {
  const std::lock_guard lock{mutex_};
  std::vector<std::vector<CellCall>> found(calls.size());
  bool is_wrapped = false;
  for (std::size_t each = 0; each < calls.size(); ++each) {
    auto code = code_.upper_bound(calls[each]);
    if (code == code_.begin() || calls[each] >= (--code)->second.end) continue;
    const llvm::DIInliningInfo frames = code->second.information->getInliningInfoForAddress(
        {calls[each], llvm::object::SectionedAddress::UndefSection}, with_names);
    for (std::uint32_t i = 0; i < frames.getNumberOfFrames(); ++i) {
      const llvm::DILineInfo& frame = frames.getFrame(i);
      const std::string cell = sources_ ? sources_->cell_of(frame.FileName) : frame.FileName;
      if (frame.Line == 0 || !is_name_of_cell(cell)) continue;
      // A function around a statement is not the user's, nor is its call.
      const bool is_statement = is_wrapper(frame.FunctionName);
      if (!std::exchange(is_wrapped, is_statement))
        found[each].push_back({is_statement || frame.FunctionName == llvm::DILineInfo::BadString
                                   ? ""
                                   : frame.FunctionName,
                               {cell, static_cast<int>(frame.Line), code->second.cell == cell_}});
    }
  }
  return found;
}

std::vector<CellLine> LineTable::lines_of(std::span<const std::uintptr_t> calls) {
  std::vector<CellLine> lines;
  for (const std::vector<CellCall>& found : calls_at(calls))
    for (const CellCall& call : found) lines.push_back(call.line);
  return lines;
}

std::vector<std::vector<CellCall>> calls_in_cells(std::span<const std::uintptr_t> calls) {
  std::vector<std::vector<CellCall>> found(calls.size());
  {
    const std::lock_guard lock{newest_mutex};
    if (newest_table) found = newest_table->calls_at(calls);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string function = function_of_cell(calls[i]);
    if (!found[i].empty())
      found[i].back().function = function;  // the others were inlined there
    else if (!function.empty())
      found[i].push_back({function, {}});
  }
  return found;
}

}  // namespace px::cpp
