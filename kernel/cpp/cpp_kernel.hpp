#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/client.hpp"
#include "interpreters/cpp/run/cpp_interpreter.hpp"
#include "jupyter/outgoing_queue.hpp"
#include "kernel/cpp/cell_view.hpp"
#include "kernel/cpp/engine_comms.hpp"
#include "kernel/cpp/notebook_output.hpp"
#include "magics/magic_cell.hpp"
#include "magics/magics.hpp"

namespace px::kernel {

/// The interpreter of a C++ kernel: C++ cells and the parallel magics. C++ cells are passed to the
/// local interpreter unchanged, cells that begin with a magic to the engines of a cluster.
class CppKernel final : public interpreters::Interpreter {
 public:
  /// Both must outlive it.  cluster_program  pxcluster.
  CppKernel(cpp::CppInterpreter& local, jupyter::OutgoingQueue& output,
            std::string cluster_program);

  Json execute(const interpreters::Execution& execution) override;
  interpreters::ApplyResult apply(const interpreters::Application& application) override {
    return local_.apply(application);
  }
  interpreters::ApplyResult serve(const interpreters::NativeRequest& request) override {
    return local_.serve(request);
  }
  Json complete(const std::string& code, int cursor) override;
  Json inspect(const std::string& code, int cursor, int detail_level) override;
  Json is_complete(const std::string& code) override;
  Json history(const Json& request) override { return local_.history(request); }
  Json kernel_info() override;
  void comm(const interpreters::CommMessage& message) override { comms_.serve(message); }
  Json comm_info(const Json& request) override { return comms_.info(request); }
  void clear() override { local_.clear(); }
  void on_wake() override { local_.on_wake(); }
  void before_request() override { local_.before_request(); }

 private:
  struct Problem {
    std::string name, value;
    bool is_displayed = false;
  };
  std::shared_ptr<client::ClientCore> connect();
  std::optional<Problem> run(const magics::MagicCall& call);
  void with_screen(const std::function<void(magics::CellOutput&)>& work);
  magics::MagicOutcome dispatch(const magics::MagicCall& call, magics::CellOutput& screen);
  std::optional<Problem> conclude(const magics::MagicOutcome& outcome);
  magics::MagicOutcome run_cell(const std::string& line, const std::string& cell,
                                magics::CellOutput& screen);
  magics::MagicOutcome run_cluster_command(const std::string& line, magics::CellOutput& screen);
  std::optional<Json> complete_magic(const std::string& code, int cursor) const;
  Json fail(const Problem& problem, int count);
  bool is_for_engines(const magics::MagicCell& cell) const;

  cpp::CppInterpreter& local_;
  interpreters::Output& output_;
  const std::string cluster_program_;
  EngineComms comms_;
  std::optional<client::Client> client_;
  std::string profile_, cluster_id_;
  magics::Magics magics_;
  CellView view_;
  const interpreters::Execution* present_ = nullptr;  // the running cell
  bool is_auto_ = false;
};

}  // namespace px::kernel
