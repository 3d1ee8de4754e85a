#pragma once

#include <clang/AST/ASTMutationListener.h>
#include <clang/AST/Mangle.h>
#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interpreters/cpp/compile/compiler.hpp"
#include "interpreters/cpp/kept_code/code_files.hpp"

namespace px::cpp {

class KnownCode;

/// Machine code of functions of the precompiled header (instances of its templates, inline
/// functions), kept beside it for other sessions with the same header: they neither instantiate,
/// optimize nor compile these again. The optimizer had its choice: what it puts into its callers
/// has no such code. Once a cell may have changed what a function of the header means, all is as if
/// nothing were kept. See is_of_header() and changes_header().
class HeaderCode final : public clang::ASTMutationListener {
 public:
  /// All that is given outlives it, and it the compiler's last parse.
  HeaderCode(Compiler& compiler, KnownCode& known, CodeFiles files);

  /// Adds what is kept to the program, but for what needs functions that the program lacks.
  void load();
  bool is_in_use() const { return is_in_use_; }
  /// Nothing of it is used from now on; what it spared the compiler is made when it is needed.
  void stop();

  /// The compiler makes code of the function, or asks whether it shall.
  void note(const clang::FunctionDecl& function) {
    if (is_in_use_) asked_.insert(&function);
  }
  /// Moves the functions of the header from the module, which is optimized, to one of their own,
  /// and keeps that.
  /// errors  bad_input: the program does not take their code.
  Result<void> take_from(llvm::Module& module);

  /// Before the compiler instantiates what a part needs: nothing whose code is known.
  void skip_pending();

  void InstantiationRequested(const clang::ValueDecl* declaration) override;
  void CompletedTagDefinition(const clang::TagDecl* tag) override;

 private:
  struct Object {
    std::vector<std::string> functions, variables;
    bool is_linked = false;
  };
  void skip(clang::FunctionDecl& function);
  bool is_loaded(const clang::FunctionDecl& function);
  std::unordered_map<std::string, const clang::FunctionDecl*> take_asked();
  Result<void> add(const std::string& name, const std::string& object);

  Compiler& compiler_;
  KnownCode& known_;
  CodeFiles files_;
  clang::ASTNameGenerator names_;
  bool is_in_use_ = true;
  std::map<std::string, Object> objects_;  // that were loaded, by name
  std::unordered_set<std::string> loaded_;  // symbols
  std::unordered_set<const clang::FunctionDecl*> asked_;
  std::vector<clang::FunctionDecl*> skipped_;
};

/// Everything that kept code depends on, but what the folder of the precompiled header is named by.
std::string identity_of_code(const std::string& precompiled_header);

/// The symbols that a function has: several for a constructor or a destructor.
std::vector<std::string> symbols_of_function(clang::ASTNameGenerator& names,
                                             const clang::FunctionDecl& function);

}  // namespace px::cpp
