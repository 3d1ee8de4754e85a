// polyxeus._kernel: the C++ half of the Python kernel, built for one Python and imported by it.
// As a main() does, it joins the rooms: the kernel and its interpreter.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <signal.h>
#include <unistd.h>

#include <px_version.hpp>
#include "interpreters/python/python_buffers.hpp"
#include "interpreters/python/python_interpreter.hpp"
#include "jupyter/runner.hpp"
#include "kernel/log.hpp"
#include "kernel/options.hpp"
#include "kernel/parent_watch.hpp"
#include "kernel/server.hpp"
#include "os/private_file.hpp"
#include "program/environment.hpp"
#include "wire/nearest_name.hpp"

namespace py = pybind11;

namespace px::kernel {
namespace {

/// What went wrong, for polyxeus.kernel.__main__, which prints it and exits.
class KernelFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A request to which output can belong: an opaque value for Python.
struct Parent {
  RequestPtr request;
  std::string message_id() const { return request->header.msg_id.text; }
  py::bytes part(std::string_view text) const { return py::bytes(text.data(), text.size()); }
};

/// The Server under Python's types.
class PythonKernel {
 public:
  PythonKernel() { releases_ = std::make_shared<python::ReleaseList>(); }

  std::optional<int> parse(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return parse_options(static_cast<int>(argv.size()), argv.data(), options_);
  }

  void start() {
    const py::gil_scoped_release unlock;
    const Result<std::string> text = os::read_file(options_.connection_file);
    if (!text) throw KernelFailure(text.error().what);
    const auto connection = jupyter::read_kernel_connection(*text);
    if (!connection)
      throw KernelFailure(connection.error().what + " (" + options_.connection_file + ")");
    const program::Environment environment = program::process_environment();
    auto server = KernelServer::start(*connection, watch_parent(environment),
                                      program::captures_descriptors(environment));
    if (!server) throw KernelFailure(server.error().what);
    server_ = std::move(*server);
    start_log(server_->original_stderr(), options_.log_level);
    releases_->on_put([this] { queues().requests.wake(); });
  }

  /// idle(descriptor) returns when the descriptor is readable, or earlier.
  void run(py::object backend, const py::function& idle) {
    python::PythonInterpreter interpreter{std::move(backend), releases_};
    const py::gil_scoped_release unlock;
    jupyter::Runner runner{interpreter, queues(), server_->formats(), {}};
    runner.run([&](int descriptor) {
      const py::gil_scoped_acquire lock;
      releases_->release();
      idle(descriptor);
    });
    server_->finish();
    releases_->on_put(nullptr);
  }

  std::optional<Parent> parent() const {
    RequestPtr request = queues().outgoing.request();
    return request ? std::optional(Parent{std::move(request)}) : std::nullopt;
  }

  void write(const std::string& stream, std::string_view text,
             const std::optional<Parent>& parent) {
    if (is_child()) return;
    python::wait_for_room(outgoing());
    parent ? outgoing().write(stream, text, parent->request) : outgoing().write(stream, text);
  }

  void publish(const std::string& type, const std::string& content, const std::string& metadata,
               const py::list& buffers, const std::optional<Parent>& parent) {
    if (is_child()) return;
    python::wait_for_room(outgoing());
    std::vector<SharedBytes> shared;
    for (const py::handle buffer : buffers)
      shared.push_back(python::from_python(buffer, releases_, python::any_size));
    parent ? outgoing().publish(type, content, metadata, std::move(shared), parent->request)
           : outgoing().publish(type, content, metadata, std::move(shared));
  }

  bool allows_input() const { return !is_child() && queues().inputs.is_allowed(); }

  std::string input(const std::string& prompt, bool is_password) {
    const std::optional<std::string> answer = [&] {
      const py::gil_scoped_release unlock;
      return queues().ask_user(prompt, is_password, python::is_interrupted);
    }();
    if (!answer) throw py::error_already_set();
    return *answer;
  }

  void stop() {
    if (!is_child()) queues().requests.stop();
  }

  /// Whether a client, or the end of the Jupyter server, has asked the kernel to end.
  bool is_ending() const { return !is_child() && server_ && queues().requests.is_stopped(); }

  void close() {
    const py::gil_scoped_release unlock;
    server_->finish();
  }

  const KernelOptions& options() const { return options_; }
  std::string uuid() const { return server_->session().text; }
  int original_stderr() const { return server_->original_stderr(); }

 private:
  /// Forked by the user's code: other threads' locks may be held for ever there.
  bool is_child() const { return ::getpid() != process_; }
  jupyter::OutgoingQueue& outgoing() {
    if (!server_) throw KernelFailure("the kernel has not been started");
    return queues().outgoing;
  }
  jupyter::Queues& queues() const { return server_->queues(); }

  KernelOptions options_;
  const pid_t process_ = ::getpid();
  std::shared_ptr<python::ReleaseList> releases_;
  std::unique_ptr<KernelServer> server_;
};

}  // namespace
}  // namespace px::kernel

PYBIND11_MODULE(_kernel, module) {
  using namespace px::kernel;
  module.doc() = "The C++ half of the Python kernel.";
  module.attr("__version__") = px::version;
  py::register_exception<KernelFailure>(module, "Failure");
  module.def("edit_distance", &px::edit_distance);
  module.def("nearest_name", &px::nearest_name);
  py::class_<px::python::ReceivedBuffer>(module, "ReceivedBuffer", py::buffer_protocol(),
                                         py::module_local())
      .def_buffer([](const px::python::ReceivedBuffer& buffer) { return buffer.info(); })
      .def("__len__", &px::python::ReceivedBuffer::size);
  py::class_<Parent>(module, "Parent")
      .def_property_readonly("message_id", &Parent::message_id)
      .def_property_readonly(
          "header",
          [](const Parent& parent) { return parent.part(parent.request->envelope.header); })
      .def_property_readonly(
          "metadata",
          [](const Parent& parent) { return parent.part(parent.request->envelope.metadata); })
      .def_property_readonly("content", [](const Parent& parent) {
        return parent.part(parent.request->envelope.content);
      });
  const auto option = [](auto member) {
    return [member](const PythonKernel& kernel) { return kernel.options().*member; };
  };
  const auto install_option = [](auto member) {
    return [member](const PythonKernel& kernel) { return kernel.options().install.*member; };
  };
  py::class_<PythonKernel>(module, "Kernel")
      .def(py::init<>())
      .def("parse", &PythonKernel::parse)
      .def("start", &PythonKernel::start)
      .def("run", &PythonKernel::run)
      .def("write", &PythonKernel::write, py::arg("stream"), py::arg("text"),
           py::arg("parent") = py::none())
      .def("publish", &PythonKernel::publish, py::arg("type"), py::arg("content"),
           py::arg("metadata"), py::arg("buffers"), py::arg("parent") = py::none())
      .def("input", &PythonKernel::input)
      .def("stop", &PythonKernel::stop)
      .def_property_readonly("is_ending", &PythonKernel::is_ending)
      .def("close", &PythonKernel::close)
      .def_property_readonly("allows_input", &PythonKernel::allows_input)
      .def_property_readonly("parent", &PythonKernel::parent)
      .def_property_readonly("uuid", &PythonKernel::uuid)
      .def_property_readonly("original_stderr", &PythonKernel::original_stderr)
      .def_property_readonly("command", option(&KernelOptions::command))
      .def_property_readonly("language", option(&KernelOptions::language))
      .def_property_readonly("connection_file", option(&KernelOptions::connection_file))
      .def_property_readonly("profile", option(&KernelOptions::profile))
      .def_property_readonly("ipython_dir", option(&KernelOptions::ipython_dir))
      .def_property_readonly("other_options", option(&KernelOptions::others))
      .def_property_readonly("is_for_user", install_option(&InstallOptions::is_for_user))
      .def_property_readonly("is_for_environment",
                             install_option(&InstallOptions::is_for_environment))
      .def_property_readonly("prefix", install_option(&InstallOptions::prefix))
      .def_property_readonly("name", install_option(&InstallOptions::name))
      .def_property_readonly("display_name", install_option(&InstallOptions::display_name));
}
