#include <clang/Basic/DiagnosticSema.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Preprocessor.h>

#include <filesystem>
#include <utility>

#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

DiagnosticLog::DiagnosticLog(clang::DiagnosticOptions& options)
    : stream_(text_), printer_(stream_, options) {
  stream_.enable_colors(true);
}

void DiagnosticLog::BeginSourceFile(const clang::LangOptions& language,
                                    const clang::Preprocessor* preprocessor) {
  if (preprocessor) preprocessor_ = preprocessor;
  printer_.BeginSourceFile(language, preprocessor);
}

void DiagnosticLog::EndSourceFile() {
  printer_.EndSourceFile();
}

void DiagnosticLog::HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                                     const clang::Diagnostic& diagnostic) {
  DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
  if (level >= clang::DiagnosticsEngine::Error) last_error_ = diagnostic.getLocation();
  const unsigned id = diagnostic.getID();
  const bool names_earlier = id == clang::diag::note_previous_definition ||
                             id == clang::diag::note_previous_declaration ||
                             id == clang::diag::note_previous_use ||
                             id == clang::diag::note_use_ifdef_guards ||
                             id == clang::diag::note_using_decl ||
                             id == clang::diag::note_using_decl_conflict;
  if (names_earlier && last_error_.isValid() && diagnostic.getLocation().isValid()) {
    clashes_.push_back({last_error_, diagnostic.getLocation()});
    if (at_clash) at_clash();
  }
  if (id == clang::diag::err_capture_non_automatic_variable)
    captures_.push_back({diagnostic.getLocation(), false});
  if (id == clang::diag::err_capture_default_non_local)
    captures_.push_back({diagnostic.getLocation(), true});
  if (bytes_ < max_bytes) add(level, diagnostic);
}

void DiagnosticLog::add(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& diagnostic) {
  CompilerMessage found;
  found.level = level >= clang::DiagnosticsEngine::Error     ? CompilerMessage::Severity::error
                : level == clang::DiagnosticsEngine::Warning ? CompilerMessage::Severity::warning
                                                             : CompilerMessage::Severity::note;
  llvm::SmallString<128> message;
  diagnostic.FormatDiagnostic(message);
  found.message = message.str().str();
  const unsigned id = diagnostic.getID();
  found.is_of_capture = id == clang::diag::err_capture_non_automatic_variable ||
                        id == clang::diag::err_capture_default_non_local;
  if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid()) {
    const clang::SourceManager& sources = diagnostic.getSourceManager();
    const clang::PresumedLoc place = sources.getPresumedLoc(diagnostic.getLocation());
    if (place.isValid()) {
      found.file = place.getFilename();
      found.line = static_cast<int>(place.getLine());
      found.column = static_cast<int>(place.getColumn());
    }
  }
  text_.clear();
  printer_.HandleDiagnostic(level, diagnostic);
  stream_.flush();
  found.text = std::exchange(text_, {});
  bytes_ += found.text.size();
  messages_.push_back(std::move(found));
}

bool DiagnosticLog::has_header(const std::string& name) const {
  if (!preprocessor_) return true;
  const clang::HeaderSearch& search = preprocessor_->getHeaderSearchInfo();
  std::error_code error;
  for (auto each = search.search_dir_begin(); each != search.search_dir_end(); ++each)
    if (std::filesystem::exists(std::filesystem::path(each->getName().str()) / name, error))
      return true;
  return false;
}

std::string DiagnosticLog::take_text() {
  bytes_ = 0;
  if (messages_.empty()) return "";
  return compose(std::exchange(messages_, {}),
                 [this](const std::string& name) { return has_header(name); });
}

std::vector<Clash> DiagnosticLog::take_clashes() {
  last_error_ = {};
  return std::exchange(clashes_, {});
}

std::vector<GlobalCapture> DiagnosticLog::take_captures() {
  return std::exchange(captures_, {});
}

}  // namespace px::cpp
