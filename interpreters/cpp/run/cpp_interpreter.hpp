#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interpreters/cpp/cells/cell_history.hpp"
#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/checkpoint/cpp_checkpoints.hpp"
#include "interpreters/cpp/other_kernels/foreign_cell.hpp"
#include "interpreters/cpp/other_kernels/session_program.hpp"
#include "interpreters/cpp/run/captured_output.hpp"
#include "interpreters/cpp/run/cell_input.hpp"
#include "interpreters/cpp/run/cpp_session.hpp"
#include "interpreters/cpp/run/session_choice.hpp"
#include "interpreters/cpp/values/cell_exchange.hpp"
#include "interpreters/cpp/values/cpp_values.hpp"
#include "interpreters/interpreter.hpp"

namespace px::cpp {

/// C++ cells as an Interpreter. As long as it exists, output of user code goes to the Output. One
/// at a time; the thread that creates it makes all calls.
class CppInterpreter final : public interpreters::Interpreter {
 public:
  /// Called for every cell that contains code, after its check and before it runs: a text is the
  /// reason why it must not run here although it compiles.
  using Agree =
      std::function<std::optional<std::string>(const Json& metadata, const CellOutcome& checked)>;

  /// With the usual flags and the header of all cells, precompiled if possible. If not, it is
  /// slower, and "stderr" says why.
  /// errors  those of CppSession::create(); bad_input: the first cell has failed.
  static Result<std::unique_ptr<CppInterpreter>> create(interpreters::Output& output,
                                                        SessionExtras extras = {});
  /// With an existing session.
  /// exchange  receives the displays of its cells; installed.
  CppInterpreter(std::unique_ptr<CppSession> session, std::unique_ptr<CellExchange> exchange,
                 interpreters::Output& output);
  ~CppInterpreter() override;

  void set_agreement(Agree agree) { agree_ = std::move(agree); }

  /// The input of std::cin in cells; without it a cell that reads fails. See CellInput.
  void set_input(CellInput::Ask ask) { input_.set_ask(std::move(ask)); }

  Json execute(const interpreters::Execution& execution) override;
  interpreters::ApplyResult apply(const interpreters::Application& application) override;
  interpreters::ApplyResult serve(const interpreters::NativeRequest& request) override;
  Json complete(const std::string& code, int cursor) override;
  Json inspect(const std::string& code, int cursor, int detail_level) override;
  Json is_complete(const std::string& code) override;
  Json history(const Json& request) override;
  Json kernel_info() override;
  void comm(const interpreters::CommMessage& message) override;
  Json comm_info(const Json& request) override;
  void clear() override;
  void on_wake() override;
  void before_request() override;

  CppSession& session() { return *session_; }

 private:
  void add_source_lines(CellOutcome& outcome, const interpreters::Execution& execution) const;
  CellOutcome run_cell(const interpreters::Execution& execution);
  CellOutcome run_code(const interpreters::Execution& execution, const ForeignCell& foreign);
  CellOutcome describe_name(const std::string& name);
  CellOutcome write_file(const ForeignCell& foreign);
  CellOutcome write_program(const ForeignCell& foreign);
  void count_edition(const std::string& code);
  bool is_expression(const std::string& code);
  Result<void> add_include_folder(const std::string& folder);
  Result<void> load_library(const std::string& name);
  CellOutcome prepare(const CellText& cell, const std::string& name, std::string& form);
  Result<void> obey(const CellDirective& directive);
  Result<void> choose_session(const CellText& cell);
  Result<void> use_package(const std::string& name);
  Result<void> renew(SessionChoice choice);
  std::string variables();
  CppValues& values();
  CheckpointSession checkpoint_session();
  Json evaluate(const std::string& expression);
  Json user_expressions(const Json& expressions);
  void publish(const char* type, const MimeBundle& shown, Json content);

  interpreters::Output& output_;
  SessionExtras extras_;
  SessionChoice choice_;  // of session_
  Agree agree_;
  std::unique_ptr<CellExchange> exchange_;
  std::unique_ptr<CppSession> session_;
  std::unique_ptr<CppValues> values_;  // of this session; null until it is needed
  CppCheckpoints checkpoints_;
  CellHistory history_;
  SessionProgram program_;                  // the definitions of cells, for %%executable
  std::vector<std::string> program_flags_;  // folders and libraries that cells have added
  bool has_run_ = false;
  unsigned edition_ = 0;    // of the display of values: see in_edition()
  bool has_shown_ = false;  // whether a value was shown since the edition began
  CapturedOutput captured_;
  CellInput input_;
};

}  // namespace px::cpp
