#include "interpreters/cpp/kept_code/header_code.hpp"

#include <clang/AST/DeclCXX.h>
#include <clang/Basic/Version.h>
#include <clang/Sema/ExternalSemaSource.h>
#include <clang/Sema/Sema.h>
#include <dlfcn.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/ObjectTransformLayer.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>

#include "interpreters/cpp/compile/header_origin.hpp"
#include "interpreters/cpp/compile/precompiled_header.hpp"
#include "interpreters/cpp/jit/known_code.hpp"
#include "interpreters/cpp/jit/link_check.hpp"
#include "interpreters/cpp/jit/module_passes.hpp"
#include "interpreters/cpp/kept_code/moved_functions.hpp"

namespace px::cpp {
namespace {

Error link_error(llvm::Error error) {
  return {ErrorKind::bad_input,
          "the cell could not be linked: " + llvm::toString(std::move(error))};
}

/// The symbols of an object for others, and those that it needs from elsewhere.
struct Symbols {
  std::vector<std::string> functions, variables, needed;
};

/// Nothing where it is no object.
std::optional<Symbols> symbols_of_object(const std::string& object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "code"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  Symbols found;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    auto type = symbol.getType();
    const bool is_readable = flags && name && type;
    if (!flags) llvm::consumeError(flags.takeError());
    if (!name) llvm::consumeError(name.takeError());
    if (!type) llvm::consumeError(type.takeError());
    if (!is_readable) return std::nullopt;
    using Symbol = llvm::object::SymbolRef;
    if (name->empty() || *name == "_GLOBAL_OFFSET_TABLE_") continue;
    if (*flags & Symbol::SF_Undefined) {
      if (!(*flags & Symbol::SF_Weak)) found.needed.push_back(name->str());
    } else if (*flags & Symbol::SF_Global) {
      (*type == Symbol::ST_Function ? found.functions : found.variables).push_back(name->str());
    }
  }
  return found;
}

/// clang leaves out the symbol for whole objects where it uses that for parts of objects in its
/// place; other modules may need it.
void add_symbol_for_whole_objects(const clang::FunctionDecl& function,
                                  const std::vector<std::string>& symbols, llvm::Module& module) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  if (!method || symbols.size() < 2 || method->getParent()->getNumVBases() > 0) return;
  llvm::Function* part = module.getFunction(symbols[0]);
  llvm::GlobalValue* whole = module.getNamedValue(symbols[1]);
  if (!part || part->isDeclaration() || (whole && !whole->isDeclaration())) return;
  auto* alias = llvm::GlobalAlias::create(llvm::GlobalValue::WeakODRLinkage, "", part);
  if (whole) {
    whole->replaceAllUsesWith(alias);
    whole->eraseFromParent();
  }
  alias->setName(symbols[1]);
}

/// Clang asks it at the end of each part, before it instantiates what the part needs.
class EndOfPart final : public clang::ExternalSemaSource {
 public:
  explicit EndOfPart(HeaderCode& code) : code_(code) {}
  void ReadPendingInstantiations(
      llvm::SmallVectorImpl<std::pair<clang::ValueDecl*, clang::SourceLocation>>&) override {
    code_.skip_pending();
  }

 private:
  HeaderCode& code_;
};

std::unordered_set<std::string> keys_of(
    const std::unordered_map<std::string, const clang::FunctionDecl*>& found) {
  std::unordered_set<std::string> keys;
  for (const auto& [symbol, function] : found) keys.insert(symbol);
  return keys;
}

}  // namespace

std::vector<std::string> symbols_of_function(clang::ASTNameGenerator& names,
                                             const clang::FunctionDecl& function) {
  if (llvm::isa<clang::CXXConstructorDecl, clang::CXXDestructorDecl>(function))
    return names.getAllManglings(&function);
  return {names.getName(&function)};
}

std::string identity_of_code(const std::string& precompiled_header) {
  std::string text = "px-code-1 " + stamp_of_file(precompiled_header);
  for (const void* code : {reinterpret_cast<const void*>(&interrupt_symbols),
                           reinterpret_cast<const void*>(&llvm::StripDebugInfo),
                           reinterpret_cast<const void*>(&clang::getClangFullVersion)}) {
    Dl_info found{};
    const bool is_library = ::dladdr(code, &found) != 0 && found.dli_fname;
    const std::string name = is_library ? found.dli_fname : "";
    text += " " + stamp_of_file(name.starts_with('/') ? name : "/proc/self/exe");
  }
  return text;
}

HeaderCode::HeaderCode(Compiler& compiler, KnownCode& known, CodeFiles files)
    : compiler_(compiler),
      known_(known),
      files_(std::move(files)),
      names_(compiler.interpreter().getASTContext()) {}

void HeaderCode::load() {
  std::vector<StoredCode> waiting = files_.read();
  if (waiting.empty()) return;
  compiler_.jit().getObjTransformLayer().setTransform(
      [this](std::unique_ptr<llvm::MemoryBuffer> object)
          -> llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> {
        const auto found = objects_.find(object->getBufferIdentifier().str());
        if (found != objects_.end()) found->second.is_linked = true;
        return object;
      });
  for (bool has_more = true; has_more;) {
    has_more = false;
    for (StoredCode& each : waiting) {
      auto symbols = symbols_of_object(each.object);
      if (!symbols || !symbols_not_found(compiler_.jit(), symbols->needed).empty()) continue;
      const std::string name = "kept code " + std::to_string(objects_.size());
      if (!add(name, std::exchange(each.object, {}))) continue;
      objects_[name] = {std::move(symbols->functions), std::move(symbols->variables)};
      known_.note(each.symbols);
      loaded_.insert(each.symbols.begin(), each.symbols.end());
      has_more = true;
    }
  }
  if (loaded_.empty()) return;
  compiler_.interpreter().getASTContext().setASTMutationListener(this);
  compiler_.instance().getSema().addExternalSource(llvm::makeIntrusiveRefCnt<EndOfPart>(*this));
}

void HeaderCode::stop() {
  if (!std::exchange(is_in_use_, false)) return;
  auto& session = compiler_.jit().getExecutionSession();
  const auto remove = [&](const std::vector<std::string>& symbols) {
    for (const std::string& symbol : symbols) {
      known_.forget(symbol);
      llvm::consumeError(compiler_.jit().getMainJITDylib().remove({session.intern(symbol)}));
    }
  };
  for (const auto& [name, object] : objects_) {
    remove(object.functions);
    if (!object.is_linked) remove(object.variables);  // else code that runs may use them
  }
  for (clang::FunctionDecl* function : skipped_) {
    function->setHasSkippedBody(false);
    if (function->getPointOfInstantiation().isInvalid()) continue;  // nothing needs it yet
    compiler_.instance().getSema().PendingInstantiations.emplace_back(
        function, function->getPointOfInstantiation());
  }
  objects_.clear();
  loaded_.clear();
  skipped_.clear();
  asked_.clear();
}

bool HeaderCode::is_loaded(const clang::FunctionDecl& function) {
  if (!is_of_header(function)) return false;
  const std::vector<std::string> symbols = symbols_of_function(names_, function);
  return !symbols.empty() && std::all_of(symbols.begin(), symbols.end(), [&](const auto& symbol) {
    return loaded_.count(symbol) > 0;
  });
}

/// As if its body had been read: then clang does not instantiate it.
void HeaderCode::skip(clang::FunctionDecl& function) {
  if (function.getTemplateSpecializationKind() != clang::TSK_ImplicitInstantiation) return;
  if (function.isConstexpr() || function.getReturnType()->getContainedDeducedType()) return;
  if (function.isDefined() || !is_loaded(function)) return;
  function.setHasSkippedBody(true);
  skipped_.push_back(&function);
}

/// Instances of function templates.
void HeaderCode::InstantiationRequested(const clang::ValueDecl* declaration) {
  auto* function = llvm::dyn_cast<clang::FunctionDecl>(const_cast<clang::ValueDecl*>(declaration));
  if (is_in_use_ && function) skip(*function);
}

/// Members of instances of class templates, of which clang does not tell when they are needed.
void HeaderCode::CompletedTagDefinition(const clang::TagDecl* tag) {
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(tag);
  if (!is_in_use_ || !record || !record->getTemplateInstantiationPattern()) return;
  for (clang::CXXMethodDecl* method : record->methods())
    if (!method->isImplicit()) skip(*method);
}

void HeaderCode::skip_pending() {
  if (!is_in_use_ || loaded_.empty()) return;
  for (const auto& [value, place] : compiler_.instance().getSema().PendingInstantiations)
    if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(value)) skip(*function);
}

std::unordered_map<std::string, const clang::FunctionDecl*> HeaderCode::take_asked() {
  std::unordered_map<std::string, const clang::FunctionDecl*> found;
  for (const clang::FunctionDecl* function : std::exchange(asked_, {})) {
    if (!function->isExternallyVisible() || !is_of_header(*function)) continue;
    for (const std::string& symbol : symbols_of_function(names_, *function))
      found.emplace(symbol, function);
  }
  return found;
}

Result<void> HeaderCode::add(const std::string& name, const std::string& object) {
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, name);
  if (llvm::Error error = compiler_.jit().addObjectFile(std::move(buffer)))
    return link_error(std::move(error));
  return {};
}

Result<void> HeaderCode::take_from(llvm::Module& module) {
  if (!is_in_use_) return {};
  const auto found = take_asked();
  std::unordered_set<std::string> moved = keys_of(found);
  const std::unique_ptr<llvm::Module> made = move_functions(module, moved);
  if (!made) return {};
  for (const std::string& symbol : std::vector<std::string>(moved.begin(), moved.end())) {
    const clang::FunctionDecl& function = *found.at(symbol);
    const std::vector<std::string> symbols = symbols_of_function(names_, function);
    add_symbol_for_whole_objects(function, symbols, *made);
    for (const std::string& each : symbols) {
      const llvm::GlobalValue* value = made->getNamedValue(each);
      if (value && !value->isDeclaration()) moved.insert(each);
    }
  }
  add_interrupt_points(*made);
  auto target = machine_of_cells();
  if (!target) return link_error(target.takeError());
  auto machine = target->createTargetMachine();
  if (!machine) return link_error(machine.takeError());
  auto object = llvm::orc::SimpleCompiler(**machine)(*made);
  if (!object) return link_error(object.takeError());
  StoredCode code{{moved.begin(), moved.end()}, (*object)->getBuffer().str()};
  std::sort(code.symbols.begin(), code.symbols.end());
  known_.note(code.symbols);
  files_.add(code);
  return add("code of the header", code.object);
}

}  // namespace px::cpp
