#include "interpreters/cpp/run/cpp_session.hpp"

#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <utility>

#include "interpreters/cpp/compile/llvm_files.hpp"
#include "interpreters/cpp/compile/precompiled_header.hpp"
#include "interpreters/cpp/kept_code/known_functions.hpp"
#include "interpreters/cpp/messages/diagnostic_text.hpp"
#include "interpreters/cpp/run/session_state.hpp"
#include "os/private_file.hpp"

namespace px::cpp {
namespace {

/// Makes headers available to cells that exist only in memory: names and texts.
void add_headers(clang::CompilerInstance& compiler,
                 const std::vector<std::pair<std::string, std::string>>& headers) {
  const std::string folder = "/polyxeus-headers";
  clang::FileManager& files = compiler.getFileManager();
  for (const auto& [name, text] : headers) {
    const std::string path = folder + "/" + name;
    const auto size = static_cast<off_t>(text.size());
    compiler.getSourceManager().overrideFileContents(
        files.getVirtualFileRef(path, size, 0), llvm::MemoryBuffer::getMemBufferCopy(text, path));
  }
  if (const auto entry = files.getOptionalDirectoryRef(folder, false))
    compiler.getPreprocessor().getHeaderSearchInfo().AddSearchPath(
        clang::DirectoryLookup(*entry, clang::SrcMgr::C_System, false), true);
}

/// The library that a script of the linker names, as some stand in the place of a library (libm.so
/// of the GNU C library); "" where the loader's words are about something else.
std::string library_of_script(const std::string& said) {
  std::smatch found;
  if (!std::regex_search(said, found, std::regex(R"(([^\s:]+): invalid ELF header)"))) return "";
  const Result<std::string> text = os::read_file(found[1].str());
  const bool names_one =
      text && std::regex_search(*text, found, std::regex(R"(\b(?:GROUP|INPUT)\s*\(\s*([^\s)]+))"));
  return names_one ? found[1].str() : "";
}

bool is_openmp_flag(const std::string& flag) {
  return flag == "-fopenmp" || flag == "-fopenmp=libomp";
}

}  // namespace

/// Where code of its functions is kept.
void CppSession::State::use_header_code(const std::string& precompiled_header) {
  const std::string folder = code_folder_of(precompiled_header);
  if (folder.empty()) return;
  header_code = std::make_unique<HeaderCode>(
      *compiler, known_code, CodeFiles{folder, identity_of_code(precompiled_header)});
}

Result<void> CppSession::State::run_silently(const std::string& code, const std::string& what) {
  clang::PartialTranslationUnit* unit = compiler->parse(code);
  const std::string said = compiler->log().take_text();
  if (!unit) return Error{ErrorKind::bad_input, what + " does not compile: " + first_error(said)};
  const CellOutcome outcome = run_unit(*unit, what);
  if (!outcome.is_ok())
    return Error{ErrorKind::bad_input, what + " does not run: " + outcome.error_value};
  return {};
}

Result<std::unique_ptr<CppSession>> CppSession::create(Options options) {
  if (options.resource_folder.empty()) options.resource_folder = llvm_files().resource_folder;
  auto state = std::make_unique<State>();
  std::error_code error;
  bool has_prelude = !options.precompiled_header.empty();
  if (has_prelude && !std::filesystem::exists(options.precompiled_header, error)) {
    state->warning = "there is no precompiled header " + options.precompiled_header;
    has_prelude = false;
  }
  auto compiler = Compiler::create(options, has_prelude);
  if (!compiler && has_prelude) {
    state->warning = "ignoring the precompiled header: " + compiler.error().what;
    has_prelude = false;
    compiler = Compiler::create(options, false);
  }
  if (!compiler) return compiler.error();
  state->compiler = std::move(*compiler);
  if (has_prelude) state->use_header_code(options.precompiled_header);
  skip_known_functions(*state->compiler, state->known_code, state->header_code.get());
  add_headers(state->compiler->instance(), options.headers);
  if (!has_prelude && !options.prelude.empty()) {
    const Result<void> done = state->run_silently(options.prelude, "the prelude");
    if (!done) return done.error();
  }
  // What exceptions need shall come from a part that surely holds.
  const Result<void> started =
      state->run_silently("{ try { throw 1; } catch (int) {} }", "a first cell");
  if (!started) return started.error();
  if (state->header_code) state->header_code->load();
  auto session = std::unique_ptr<CppSession>(new CppSession(std::move(state)));
  if (std::any_of(options.flags.begin(), options.flags.end(), is_openmp_flag)) {
    const Result<void> loaded = session->load_library(llvm_files().openmp_library);
    if (!loaded) return loaded.error();
  }
  return session;
}

CppSession::CppSession(std::unique_ptr<State> state) : state_(std::move(state)) {}

CppSession::~CppSession() {
  if (state_->guard.has_jumped()) {  // LLVM's own objects may be damaged: they stay as they are
    state_->compiler->abandon();
    (void)state_->compiler.release();
  }
}

const std::string& CppSession::warning() const {
  return state_->warning;
}

const std::string& CppSession::warnings() const {
  return state_->warnings;
}

CellOutcome CppSession::check(const std::string& code, const std::string& name) {
  state_->checked = state_->plan(code, name);
  return state_->checked->outcome;
}

CellOutcome CppSession::run(const std::string& code, const std::string& name) {
  std::optional<State::Plan> plan = std::exchange(state_->checked, std::nullopt);
  if (!plan || plan->code != code || plan->name != name) plan = state_->plan(code, name);
  return plan->outcome.is_ok() ? state_->run(*plan) : plan->outcome;
}

void CppSession::show_to_debuggers(const std::string& name, const std::string& text) {
  if (CellSources* const sources = state_->compiler->sources()) sources->add(name, text);
}

CellOutcome CppSession::call(const std::function<void()>& function) {
  return state_->guard.run(function);
}

Result<void> CppSession::add_include_folder(const std::string& folder) {
  std::error_code error;
  const auto path = std::filesystem::absolute(folder, error);
  auto& files = state_->compiler->instance().getFileManager();
  const auto entry = files.getOptionalDirectoryRef(path.string(), false);
  if (!entry) return Error{ErrorKind::not_found, "No folder " + path.string() + " on this host."};
  state_->checked.reset();
  state_->compiler->instance().getPreprocessor().getHeaderSearchInfo().AddSearchPath(
      clang::DirectoryLookup(*entry, clang::SrcMgr::C_User, false), true);
  return {};
}

void CppSession::add_library_folder(const std::string& folder) {
  std::error_code error;
  state_->library_folders.push_back(std::filesystem::absolute(folder, error).string());
}

Result<void> CppSession::load_library(const std::string& name) {
  state_->checked.reset();
  const bool is_plain =
      name.find('/') == std::string::npos && name.find(".so") == std::string::npos;
  std::vector<std::string> candidates = {name};
  if (is_plain) candidates = {"lib" + name + ".so", name + ".so", name};
  for (const std::string& folder : state_->library_folders)
    for (const std::string& file : std::vector<std::string>(candidates))
      if (const std::string path = folder + "/" + file; std::filesystem::exists(path))
        candidates.insert(candidates.begin(), path);
  std::string said;
  for (std::size_t next = 0; next < candidates.size(); ++next) {
    const std::string candidate = candidates[next];
    llvm::Error error = state_->compiler->interpreter().LoadDynamicLibrary(candidate.c_str());
    if (!error) {
      state_->compiler->late_functions().look_into_libraries();
      return {};
    }
    const std::string text = llvm::toString(std::move(error));
    const std::string other = library_of_script(text);
    if (!other.empty() && !std::count(candidates.begin(), candidates.end(), other))
      candidates.push_back(other);
    if (said.empty()) said = text;
  }
  return Error{ErrorKind::not_found, "The library " + name + " cannot be loaded: " + said};
}

void CppSession::interrupt() {
  CellGuard::interrupt();
}
void CppSession::handle_interrupts() {
  CellGuard::handle_interrupts();
}
bool CppSession::is_interrupt_pending() {
  return CellGuard::is_interrupt_pending();
}
void CppSession::forget_interrupts() {
  CellGuard::forget_interrupts();
}

}  // namespace px::cpp
