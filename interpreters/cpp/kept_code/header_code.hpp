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
/// functions), stored next to it for other sessions with the same header: they neither instantiate,
/// optimize nor compile these again. The optimizer decided first: functions that it inlines into
/// their callers have no such code. Once a cell may have changed the meaning of a function of the
/// header, the stored code is not used any more. See is_of_header() and changes_header().
class HeaderCode final : public clang::ASTMutationListener {
 public:
  /// The arguments outlive it, and it outlives the compiler's last parse.
  HeaderCode(Compiler& compiler, KnownCode& known, CodeFiles files);

  /// Adds the stored code to the program, except code that needs functions that the program lacks.
  void load();
  bool is_in_use() const { return is_in_use_; }
  /// None of it is used from now on; skipped code is made when it is needed.
  void stop();

  /// The compiler makes code of the function, or asks whether it should.
  void note(const clang::FunctionDecl& function) {
    if (is_in_use_) asked_.insert(&function);
  }
  /// Moves the functions of the header from the optimized module to a separate one, and stores
  /// that.
  /// errors  bad_input: the program does not accept their code.
  Result<void> take_from(llvm::Module& module);

  /// Before the compiler instantiates the functions that a part needs: skips those whose code is
  /// known.
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
  std::map<std::string, Object> objects_;   // the loaded ones, by name
  std::unordered_set<std::string> loaded_;  // symbols
  std::unordered_set<const clang::FunctionDecl*> asked_;
  std::vector<clang::FunctionDecl*> skipped_;
};

/// Everything on which stored code depends, except the parts in the name of the precompiled
/// header's folder.
std::string identity_of_code(const std::string& precompiled_header);

/// The symbols of a function: several for a constructor or a destructor.
std::vector<std::string> symbols_of_function(clang::ASTNameGenerator& names,
                                             const clang::FunctionDecl& function);

}  // namespace px::cpp
