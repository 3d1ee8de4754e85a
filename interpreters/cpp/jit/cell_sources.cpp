#include "interpreters/cpp/jit/cell_sources.hpp"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ExecutionEngine/Orc/Debugging/ELFDebugObjectPlugin.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/Support/xxhash.h>

#include <set>
#include <utility>

#include "os/private_file.hpp"

namespace px::cpp {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours longest_unused{24 * 30};

std::string source_name_of(const std::string& text) {
  return "cell-" + llvm::utohexstr(llvm::xxh3_64bits(text), true) + ".cpp";
}

void drop_unused_sources(const fs::path& folder) {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const auto used = entry.last_write_time(failure);
    if (!failure && fs::file_time_type::clock::now() - used > longest_unused)
      fs::remove(entry.path(), failure);
  }
}

std::set<llvm::DIFile*> files_named_by(const llvm::Module& module) {
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  std::set<llvm::DIFile*> files;
  for (const llvm::DICompileUnit* each : finder.compile_units()) files.insert(each->getFile());
  for (const llvm::DISubprogram* each : finder.subprograms()) files.insert(each->getFile());
  for (const llvm::DIType* each : finder.types()) files.insert(each->getFile());
  for (const llvm::DIScope* each : finder.scopes()) files.insert(each->getFile());
  for (const llvm::DIGlobalVariableExpression* each : finder.global_variables())
    files.insert(each->getVariable()->getFile());
  files.erase(nullptr);
  return files;
}

}  // namespace

CellSources::CellSources(fs::path folder) : folder_(std::move(folder)) {
  drop_unused_sources(folder_);
}

void CellSources::add(const std::string& name, const std::string& text) {
  const std::string file = source_name_of(text);
  std::error_code failure;
  fs::last_write_time(folder_ / file, fs::file_time_type::clock::now(), failure);
  const bool is_there = !failure;
  if (!is_there && (!os::make_folder(folder_, 0700) ||
                    !os::write_file_atomically(folder_ / file, text, 0400, os::Survives::process)))
    return;
  const std::lock_guard lock{mutex_};
  files_[name] = file;
  cells_[file] = name;
}

void CellSources::name_files(llvm::Module& module) const {
  for (llvm::DIFile* file : files_named_by(module)) {
    const auto found = files_.find(file->getFilename().str());
    if (found == files_.end()) continue;
    llvm::LLVMContext& context = module.getContext();
    file->replaceOperandWith(0, llvm::MDString::get(context, found->second));
    file->replaceOperandWith(1, llvm::MDString::get(context, folder_.string()));
  }
}

std::string CellSources::cell_of(const std::string& file) const {
  const std::lock_guard lock{mutex_};
  const auto found = cells_.find(file);
  return found == cells_.end() ? file : found->second;
}

llvm::Error show_code_to_debuggers(llvm::orc::LLJIT& jit) {
  auto* const layer = llvm::dyn_cast<llvm::orc::ObjectLinkingLayer>(&jit.getObjLinkingLayer());
  if (layer == nullptr) return llvm::Error::success();
  llvm::Error error = llvm::Error::success();
  auto plugin = std::make_shared<llvm::orc::ELFDebugObjectPlugin>(jit.getExecutionSession(), true,
                                                                  true, error);
  if (!error) layer->addPlugin(std::move(plugin));
  return error;
}

}  // namespace px::cpp
