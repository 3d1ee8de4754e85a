#include "interpreters/python/python_interpreter.hpp"

#include <utility>

namespace py = pybind11;

namespace px::python {
namespace {

py::bytes to_argument(const std::string& text) {
  return py::bytes(text);
}
int to_argument(int value) {
  return value;
}
bool to_argument(bool value) {
  return value;
}
py::bytes to_argument(const Json& value) {
  return py::bytes(pack(Packer::json, value));
}

/// The content of an error that our own Python code let escape: an interrupt in the wrong moment.
Json escaped_error(const py::error_already_set& error) {
  const std::string type = py::str(error.type().attr("__name__"));
  return {{"status", "error"},
          {"ename", type},
          {"evalue", std::string(py::str(error.value()))},
          {"traceback", Json::array({std::string(error.what())})},
          {"execution_count", 0},
          {"user_expressions", Json::object()},
          {"payload", Json::array()}};
}

}  // namespace

bool is_interrupted() {
  const py::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

PythonInterpreter::PythonInterpreter(py::object backend, std::shared_ptr<ReleaseList> releases)
    : backend_(std::move(backend)), releases_(std::move(releases)) {}

template <class... Arguments>
Json PythonInterpreter::call(const char* method, const Arguments&... arguments) {
  const py::gil_scoped_acquire lock;
  try {
    const py::object reply = backend_.attr(method)(to_argument(arguments)...);
    if (reply.is_none()) return Json::object();
    const Result<Json> content = unpack(Packer::json, std::string(py::bytes(reply)));
    return content ? *content
                   : Json{{"status", "error"},
                          {"ename", "ValueError"},
                          {"evalue", content.error().what},
                          {"traceback", Json::array()}};
  } catch (const py::error_already_set& error) {
    return escaped_error(error);
  }
}

Json PythonInterpreter::execute(const interpreters::Execution& execution) {
  return call("execute", execution.code, execution.is_silent, execution.keeps_history,
              execution.user_expressions, execution.count);
}

template <class Call>
interpreters::ApplyResult PythonInterpreter::compute(const std::vector<SharedBytes>& buffers,
                                                     const Call& call) {
  const py::gil_scoped_acquire lock;
  interpreters::ApplyResult result;
  try {
    py::list frames;
    for (const SharedBytes& buffer : buffers) frames.append(to_python(buffer));
    const py::tuple reply = call(frames);
    result.is_ok = reply[0].cast<bool>();
    result.is_unmet_dependency = reply[1].cast<bool>();
    result.content = std::string(py::bytes(reply[2]));
    for (const py::handle buffer : reply[3])
      result.buffers.push_back(from_python(buffer, releases_, shared_from_bytes));
  } catch (const py::error_already_set& error) {
    result = {pack(Packer::json, escaped_error(error)), false, false, {}};
  }
  return result;
}

interpreters::ApplyResult PythonInterpreter::apply(const interpreters::Application& application) {
  return compute(application.buffers,
                 [&](const py::list& frames) { return backend_.attr("apply")(frames); });
}

interpreters::ApplyResult PythonInterpreter::serve(const interpreters::NativeRequest& request) {
  return compute(request.buffers, [&](const py::list& frames) {
    return backend_.attr("serve")(to_argument(request.type), to_argument(request.content), frames,
                                  request.copied_from);
  });
}

Json PythonInterpreter::complete(const std::string& code, int cursor) {
  return call("complete", code, cursor);
}

Json PythonInterpreter::inspect(const std::string& code, int cursor, int detail_level) {
  return call("inspect", code, cursor, detail_level);
}

Json PythonInterpreter::is_complete(const std::string& code) {
  return call("is_complete", code);
}
Json PythonInterpreter::history(const Json& request) {
  return call("history", request);
}
Json PythonInterpreter::kernel_info() {
  return call("kernel_info");
}
Json PythonInterpreter::comm_info(const Json& request) {
  return call("comm_info", request);
}
void PythonInterpreter::clear() {
  call("clear");
}

void PythonInterpreter::comm(const interpreters::CommMessage& message) {
  const py::gil_scoped_acquire lock;
  try {
    py::list frames;
    for (const SharedBytes& buffer : message.buffers) frames.append(to_python(buffer));
    backend_.attr("comm")(to_argument(message.type), to_argument(message.content),
                          to_argument(message.metadata), frames);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("a comm message");
  }
}

void PythonInterpreter::on_wake() {
  call("on_wake");
  before_request();
}

void PythonInterpreter::before_request() {
  const py::gil_scoped_acquire lock;
  releases_->release();
  // A KeyboardInterrupt that nobody waits for any more is dropped here.
  if (PyErr_CheckSignals() != 0) PyErr_Clear();
}

void wait_for_room(interpreters::Output& output) {
  constexpr Duration between_looks_at_signals = std::chrono::milliseconds(50);
  while (!output.wait_for_room(Duration::zero())) {
    {
      const py::gil_scoped_release unlock;
      output.wait_for_room(between_looks_at_signals);
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

}  // namespace px::python
