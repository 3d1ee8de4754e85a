#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include <memory>
#include <string>

#include "interpreters/cpp/jit/single_calls.hpp"

namespace px::cpp {
namespace {

/// A function of a header: so many instructions, and a call.
std::string function(const std::string& name, int instructions, const std::string& calls = "",
                     const std::string& attribute = "") {
  std::string text = "define linkonce_odr void @" + name + "(ptr %x) " + attribute + " {\n";
  for (int i = 1; i < instructions; ++i) text += "  store volatile i32 1, ptr %x\n";
  if (!calls.empty()) text += "  call void @" + calls + "(ptr %x)\n";
  return text + "  ret void\n}\n";
}

std::string cell(const std::string& called, const std::string& name = "__stmts__1") {
  return "define internal void @" + name + "(ptr %x) {\n  call void @" + called +
         "(ptr %x)\n  ret void\n}\n";
}

/// A module as a cell becomes one.
class SingleCallsTest : public testing::Test {
 protected:
  void read(const std::string& text) {
    llvm::SMDiagnostic mistake;
    module_ = llvm::parseAssemblyString(text, mistake, context_);
    ASSERT_TRUE(module_) << mistake.getMessage().str();
    llvm::PassBuilder passes;
    keep_single_calls(passes);
    llvm::ModulePassManager manager;
    passes.invokePipelineStartEPCallbacks(manager, llvm::OptimizationLevel::O2);
    llvm::ModuleAnalysisManager analyses;
    passes.registerModuleAnalyses(analyses);
    manager.run(*module_, analyses);
    EXPECT_FALSE(llvm::verifyModule(*module_, &llvm::errs()));
  }
  /// Whether the optimizer may not put the function into its callers: of all that call it.
  bool is_kept(const std::string& name) {
    bool is_kept = true;
    for (const llvm::User* user : module_->getFunction(name)->users())
      is_kept = is_kept && llvm::cast<llvm::CallBase>(user)->isNoInline();
    return is_kept;
  }
  bool is_for_single_calls(const std::string& name) {
    return px::cpp::is_for_single_calls(*module_->getFunction(name));
  }

 private:
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

TEST_F(SingleCallsTest, MuchCodeStaysAFunctionOfItsOwn) {
  read(function("solve", 400) + cell("solve"));
  EXPECT_TRUE(is_kept("solve"));
  EXPECT_FALSE(is_for_single_calls("solve"));
}

TEST_F(SingleCallsTest, LittleCodeMayBePutIntoTheCell) {
  read(function("add", 20) + cell("add"));
  EXPECT_FALSE(is_kept("add"));
}

TEST_F(SingleCallsTest, CodeThatIsCalledCountsAsWell) {
  read(function("inner", 150) + function("middle", 150, "inner") + function("outer", 2, "middle") +
       cell("outer"));
  EXPECT_TRUE(is_kept("outer"));
  EXPECT_FALSE(is_kept("middle"));
}

TEST_F(SingleCallsTest, WhatTheOptimizerMakesSmallIsForThemAlone) {
  read(function("inner", 400) + function("small", 48, "inner") + function("large", 49, "inner") +
       cell("small") + cell("large", "__stmts__2"));
  EXPECT_TRUE(is_for_single_calls("small"));
  EXPECT_FALSE(is_for_single_calls("large"));
  EXPECT_FALSE(is_for_single_calls("inner"));
}

TEST_F(SingleCallsTest, WhatIsWantedInlineIsForThemAloneUpToAMiddleSize) {
  read(function("inner", 400) + function("product", 148, "inner", "alwaysinline") +
       function("solution", 149, "inner", "alwaysinline") + cell("product") +
       cell("solution", "__stmts__2"));
  EXPECT_TRUE(is_kept("product"));
  EXPECT_TRUE(is_for_single_calls("product"));
  EXPECT_FALSE(is_for_single_calls("solution"));
}

TEST_F(SingleCallsTest, AFunctionThatCallsItselfIsCountedOnce) {
  read(function("descend", 20, "descend") + cell("descend"));
  EXPECT_FALSE(is_kept("descend"));
}

TEST_F(SingleCallsTest, LoopsMayHaveAllCode) {
  read(function("solve", 400) +
       "define internal void @__stmts__1(ptr %x) {\n  br label %again\nagain:\n"
       "  call void @solve(ptr %x)\n  %more = load volatile i1, ptr %x\n"
       "  br i1 %more, label %again, label %end\nend:\n  ret void\n}\n");
  EXPECT_FALSE(is_kept("solve"));
}

TEST_F(SingleCallsTest, FunctionsOfTheCellMayHaveAllCode) {
  read(function("solve", 400) + cell("solve", "mine"));
  EXPECT_FALSE(is_kept("solve"));
}

TEST_F(SingleCallsTest, WhatTheCellAloneHasIsNotConcerned) {
  read("define void @mine(ptr %x) {\n  call void @solve(ptr %x)\n  ret void\n}\n" +
       function("solve", 400) + cell("mine", "__cxx_global_var_init"));
  EXPECT_FALSE(is_kept("mine"));
}

}  // namespace
}  // namespace px::cpp
