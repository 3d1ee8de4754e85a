#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "interpreters/interpreter.hpp"
#include "interpreters/python/python_buffers.hpp"

namespace px::python {

/// Whether a Python signal handler has raised, usually KeyboardInterrupt: that error is set in this
/// case. Takes Python's lock; for the main thread.
bool is_interrupted();

/// The user's IPython as an Interpreter. A Python object does the work, the `backend`
/// (polyxeus/engine/backend.py); this class takes the lock, passes bytes on, and never throws. The
/// caller holds the lock only when it creates and destroys one.
class PythonInterpreter final : public interpreters::Interpreter {
 public:
  PythonInterpreter(pybind11::object backend, std::shared_ptr<ReleaseList> releases);

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

 private:
  /// call  calls the backend with the list of the buffers.
  template <class Call>
  interpreters::ApplyResult compute(const std::vector<SharedBytes>& buffers, const Call& call);
  template <class... Arguments>
  Json call(const char* method, const Arguments&... arguments);

  pybind11::object backend_;
  std::shared_ptr<ReleaseList> releases_;
};

/// Waits until `output` accepts more; called before printing or showing. The caller holds Python's
/// lock, which is released during the wait. Throws the error of Python's signal handlers, e.g.
/// KeyboardInterrupt.
void wait_for_room(interpreters::Output& output);

}  // namespace px::python
