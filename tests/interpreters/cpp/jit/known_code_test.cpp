#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>

#include <memory>
#include <string>

#include "interpreters/cpp/jit/known_code.hpp"

namespace px::cpp {
namespace {

constexpr const char* square =
    "define linkonce_odr i32 @square(i32 %x) { %y = mul i32 %x, %x\n ret i32 %y }\n";

/// Modules as cells become, and a program that has some of them.
class KnownCodeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  }
  KnownCodeTest() : jit_(llvm::cantFail(llvm::orc::LLJITBuilder().create())) {}

  static std::unique_ptr<llvm::Module> module_of(const std::string& text,
                                                 llvm::LLVMContext& context) {
    llvm::SMDiagnostic mistake;
    auto module = llvm::parseAssemblyString(text, mistake, context);
    EXPECT_TRUE(module) << mistake.getMessage().str();
    return module;
  }
  /// The module becomes part of the program.
  void add(const std::string& text) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = module_of(text, *context);
    module->setDataLayout(jit_->getDataLayout());
    known_.note(*module);
    llvm::cantFail(jit_->addIRModule({std::move(module), std::move(context)}));
  }
  /// Whether a later module with that text has no code for @square.
  bool leaves_out(const std::string& text) {
    llvm::LLVMContext context;
    const auto module = module_of(text, context);
    known_.leave_out(*module, *jit_);
    return module->getFunction("square")->isDeclaration();
  }

  std::unique_ptr<llvm::orc::LLJIT> jit_;
  KnownCode known_;
};

TEST_F(KnownCodeTest, WhatTheProgramHasIsLeftOut) {
  EXPECT_FALSE(leaves_out(square));
  add(square);
  EXPECT_TRUE(leaves_out(square));
}

TEST_F(KnownCodeTest, WhatIsDefinedAgainIsCompiled) {
  add(square);
  known_.forget("square");
  EXPECT_FALSE(leaves_out(square));
}

TEST_F(KnownCodeTest, WhatTheProgramHasLostIsCompiled) {
  add(square);
  llvm::cantFail(jit_->getMainJITDylib().remove({jit_->mangleAndIntern("square")}));
  EXPECT_FALSE(leaves_out(square));
}

TEST_F(KnownCodeTest, AModuleThatCannotBeLinkedIsForgottenAlone) {
  add(square);
  add("define linkonce_odr void @other() { ret void }");
  known_.forget_last();
  EXPECT_TRUE(leaves_out(square));
}

TEST_F(KnownCodeTest, AFunctionOfOneModuleStaysItsOwn) {
  add("define i32 @square(i32 %x) { ret i32 1 }");
  EXPECT_FALSE(leaves_out("define i32 @square(i32 %x) { ret i32 2 }"));
  EXPECT_FALSE(leaves_out("define internal i32 @square(i32 %x) { ret i32 3 }"));
}

TEST_F(KnownCodeTest, AFunctionWithASecondNameKeepsItsCode) {
  add(square);
  EXPECT_FALSE(leaves_out(std::string(square) + "@twin = alias i32 (i32), ptr @square"));
}

}  // namespace
}  // namespace px::cpp
