#pragma once

#include <clang/Sema/ExternalSemaSource.h>

#include "interpreters/cpp/compile/compiler.hpp"

namespace px::cpp {

/// When a part with errors was parsed, clang forgets its names; it crashes where `using namespace`
/// or an unnamed namespace is among them. This takes those out before, at the end of each part.
class FailedPartCleaner final : public clang::ExternalSemaSource {
 public:
  explicit FailedPartCleaner(Compiler& compiler) : compiler_(compiler) {}
  void ReadPendingInstantiations(
      llvm::SmallVectorImpl<std::pair<clang::ValueDecl*, clang::SourceLocation>>&) override;

 private:
  Compiler& compiler_;
};

}  // namespace px::cpp
