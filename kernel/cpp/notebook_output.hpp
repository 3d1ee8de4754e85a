#pragma once

#include <functional>
#include <string>

#include "interpreters/interpreter.hpp"
#include "magics/cell_output.hpp"

namespace px::kernel {

/// A CellOutput that is the output of the kernel's present cell.
class NotebookOutput final : public magics::CellOutput {
 public:
  /// is_interrupted  whether the user has interrupted the cell since the last call.
  /// run_here        runs a cell in the kernel itself.
  NotebookOutput(interpreters::Output& output, std::function<bool()> is_interrupted,
                 std::function<void(const std::string&)> run_here);

  void perform(const magics::Action& action) override;
  bool is_interrupted() override { return is_interrupted_(); }
  void run_here(const std::string& code) override { run_here_(code); }

 private:
  void show(const magics::WriteText& text);
  void show(const magics::ShowData& shown);
  void show(const magics::ClearOutput& clear);
  void show(const magics::ShowProgress& progress);

  interpreters::Output& output_;
  std::function<bool()> is_interrupted_;
  std::function<void(const std::string&)> run_here_;
  std::string progress_id_;  // once a progress bar is on the screen
};

}  // namespace px::kernel
