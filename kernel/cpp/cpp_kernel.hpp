#pragma once

#include <memory>
#include <optional>
#include <string>

#include <px/client/client.hpp>
#include <px/interpreters/cpp/cpp_interpreter.hpp>
#include <px/kernel/cpp/cell_view.hpp>
#include <px/kernel/cpp/output_screen.hpp>
#include <px/kernel/magic_cell.hpp>
#include <px/kernel/magics.hpp>

namespace px::kernel {

/// C++ cells and the parallel magics: what a C++ kernel hosts. Cells of C++ go to the interpreter
/// as they are, those that begin with a magic to the engines of a cluster.
class CppKernel final : public Interpreter {
 public:
  /// Both must outlive it.  cluster_program  pxcluster.
  CppKernel(CppInterpreter& local, Output& output, std::string cluster_program);

  Json execute(const Execution& execution) override;
  ApplyResult apply(const Application& application) override { return local_.apply(application); }
  ApplyResult serve(const NativeRequest& request) override { return local_.serve(request); }
  Json complete(const std::string& code, int cursor) override;
  Json inspect(const std::string& code, int cursor, int detail_level) override;
  Json is_complete(const std::string& code) override;
  Json history(const Json& request) override { return local_.history(request); }
  Json kernel_info() override;
  void comm(const CommMessage& message) override { local_.comm(message); }
  Json comm_info(const Json& request) override { return local_.comm_info(request); }
  void clear() override { local_.clear(); }
  void on_wake() override { local_.on_wake(); }
  void before_request() override { local_.before_request(); }

 private:
  struct Problem {
    std::string name, value;
    bool is_displayed = false;
  };
  std::shared_ptr<ClientCore> connect();
  std::optional<Problem> run(const MagicCall& call);
  void with_screen(const std::function<void(Screen&)>& work);
  MagicOutcome dispatch(const MagicCall& call, Screen& screen);
  std::optional<Problem> conclude(const MagicOutcome& outcome);
  MagicOutcome run_cluster_command(const std::string& line, Screen& screen);
  Json fail(const Problem& problem, int count);
  bool is_for_engines(const MagicCell& cell) const;

  CppInterpreter& local_;
  Output& output_;
  const std::string cluster_program_;
  std::optional<Client> client_;
  std::string profile_, cluster_id_;
  Magics magics_;
  CellView view_;
  const Execution* present_ = nullptr;  // the cell that runs now
  bool is_auto_ = false;
};

}  // namespace px::kernel
