// polyxeus._engine: the C++ half of the Python engine, built for one Python and imported by it.
// As a main() does, it joins the rooms: the engine and its interpreter.

#include <fcntl.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

#include <px_version.hpp>
#include "engine/mpi/mpi_hints.hpp"
#include "engine/program.hpp"
#include "engine/python/mpi_steps.hpp"
#include "interpreters/python/python_buffers.hpp"
#include "interpreters/python/python_interpreter.hpp"
#include "jupyter/runner.hpp"
#include "os/memory_group.hpp"
#include "os/segments/segment_space.hpp"
#include "os/signals_blocked.hpp"
#include "os/stacks/thread_stacks.hpp"
#include "program/environment.hpp"

namespace py = pybind11;

namespace px::engine {
namespace {

/// What went wrong, for polyxeus.engine.__main__, which prints it and exits.
class EngineFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

os::Descriptor folder_descriptor(const std::string& folder) {
  return os::Descriptor{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}

/// EngineProgram under Python's types.
class PythonEngine {
 public:
  PythonEngine() {
    releases_ = std::make_shared<python::ReleaseList>();
    const auto version = py::module_::import("sys").attr("version_info");
    program_.describe_python(std::to_string(version.attr("major").cast<int>()) + "." +
                             std::to_string(version.attr("minor").cast<int>()));
  }

  std::optional<int> parse(const std::vector<std::string>& arguments) {
    return program_.parse(arguments);
  }

  std::string find_info() {
    const py::gil_scoped_release unlock;
    Result<std::string> info = program_.find_info();
    if (!info) throw EngineFailure(info.error().what);
    return *info;
  }

  void start(const std::string& watcher_program, const std::optional<std::string>& info) {
    answer_stack_signal();
    const py::gil_scoped_release unlock;
    if (auto started = program_.start(watcher_program, info); !started)
      throw EngineFailure(started.error().what);
    releases_->on_put([this] { program_.requests().wake(); });
  }

  int wait_registered() {
    const py::gil_scoped_release unlock;
    const Result<EngineId> id = program_.wait_registered();
    if (!id) throw EngineFailure(id.error().what);
    return id->value;
  }

  int run(py::object backend, int signal_descriptor) {
    python::PythonInterpreter interpreter{backend, releases_};
    const py::gil_scoped_release unlock;
    const int exit_code = program_.run(interpreter, signal_descriptor, [&](int descriptor) {
      return run_tasks(backend, descriptor);
    });
    releases_->on_put(nullptr);
    program_.place_finder().close();
    return exit_code;
  }

  /// For the thread that finds the line of the user's code, as AskedThread.
  bool wait_place_question() {
    const py::gil_scoped_release unlock;
    return program_.place_finder().wait();
  }
  void answer_place(const std::string& place) {
    Result<Json> found = unpack(Packer::json, place);
    program_.place_finder().answer(found ? std::move(*found) : Json::object());
  }
  void leave_place_finder() { program_.place_finder().leave(); }

  void write(const std::string& stream, std::string_view text) {
    if (!is_serving()) return;
    python::wait_for_room(program_.output());
    program_.output().write(stream, text);
  }

  void publish(const std::string& type, const std::string& content, const std::string& metadata,
               const py::list& buffers) {
    if (!is_serving()) return;
    python::wait_for_room(program_.output());
    std::vector<SharedBytes> shared;
    for (const py::handle buffer : buffers)
      shared.push_back(python::from_python(buffer, releases_, python::any_size));
    program_.output().publish(type, content, metadata, std::move(shared));
  }

  /// The connection file by which Jupyter's clients reach this engine: `file`, or that of an
  /// earlier call.
  std::string bind_kernel(const std::string& file) {
    if (!is_serving()) throw std::runtime_error("the engine has not been started");
    const py::gil_scoped_release unlock;
    const Result<std::filesystem::path> bound = program_.bind_kernel(file);
    if (!bound) throw std::runtime_error(bound.error().what);
    return bound->string();
  }

  /// That of the request that runs, or ran last: JSON text.
  std::optional<py::bytes> request_header() {
    if (!is_serving()) return std::nullopt;
    const RequestPtr request = program_.queues().outgoing.request();
    if (!request) return std::nullopt;
    return py::bytes(jupyter::json_text(*request, request->envelope.header));
  }

  bool allows_input() { return is_serving() && program_.queues().inputs.is_allowed(); }

  /// Precondition: allows_input().
  std::string input(const std::string& prompt, bool is_password) {
    const std::optional<std::string> answer = [&] {
      const py::gil_scoped_release unlock;
      return program_.queues().ask_user(prompt, is_password, python::is_interrupted);
    }();
    if (!answer) throw py::error_already_set();
    return *answer;
  }

  /// The caller is about to publish a question: the next answer_request answers it.
  void expect_answer() {
    if (is_serving()) program_.queues().inputs.expect();
  }

  /// The content of that answer_request, JSON text; nothing if none came in so many seconds.
  std::optional<std::string> wait_answer(std::optional<double> seconds) {
    if (!is_serving()) return std::nullopt;
    std::optional<Instant> deadline;
    if (seconds) deadline = Clock::now() + duration_of(*seconds);
    bool is_interrupted = false;
    const auto look = [&] { return is_interrupted = python::is_interrupted(); };
    std::optional<std::string> answer;
    {
      const py::gil_scoped_release unlock;
      answer = program_.queues().await_answer(deadline, look);
    }
    if (is_interrupted && !answer) throw py::error_already_set();
    return answer;
  }

  bool outlives_client() const { return is_serving() && program_.outlives_client(); }

  /// Whether a trace is on: record() is to be called with what ends.
  bool is_tracing() { return is_serving() && program_.queues().spans.is_on(); }

  /// began, ended  nanoseconds of time.monotonic_ns().
  /// details       JSON text.
  void record(std::string kind, std::string name, std::int64_t began, std::int64_t ended,
              std::uint64_t thread, const std::string& details) {
    if (!is_serving()) return;
    const auto instant = [](std::int64_t time) { return Instant{std::chrono::nanoseconds(time)}; };
    Result<Json> read = unpack(Packer::json, details);
    program_.queues().spans.add({std::move(kind), std::move(name), instant(began), instant(ended),
                                 thread, read ? std::move(*read) : Json::object()});
  }

  void stop() {
    if (is_serving()) program_.stop();
  }

  /// Whether the event loop has work for the time between requests. Any thread may say so.
  void set_has_tasks(bool has_tasks) {
    if (!has_tasks_.exchange(has_tasks) && has_tasks && is_serving()) program_.requests().wake();
  }

  std::optional<std::pair<int, int>> world() const {
    if (!program_.world()) return std::nullopt;
    return std::pair{program_.world()->rank.value, program_.world()->size};
  }

  /// PythonMpiSteps::join().
  /// Returns whether another rank takes part, too.
  bool join_mpi(const std::string& library, py::object error_type) {
    const PythonMpiSteps& steps =
        PythonMpiSteps::join(library, std::move(error_type), program_.broken_world());
    const CellWatch watch = steps.watch();
    program_.watch_cells(watch);
    program_.pass_by(steps.rank_endpoint());
    return watch.begin != nullptr;
  }

  /// Which rank of the world has died, as a sentence; nothing while the world is whole.
  std::optional<std::string> broken_world() const { return program_.broken_world().why_broken(); }

  /// Not before it has started, nor in a child that the user's code has forked: there other
  /// threads' locks may be held for ever, and nobody would send what goes out.
  bool is_serving() const { return program_.is_started() && ::getpid() == process_; }

  bool has_abandoned_world() const {
    return program_.is_started() && program_.has_abandoned_world();
  }

  const EngineProgram& program() const { return program_; }
  EngineProgram& program() { return program_; }

 private:
  /// Without tasks the engine waits without Python's lock.
  bool run_tasks(const py::object& backend, int descriptor) {
    if (!has_tasks_) return false;
    const py::gil_scoped_acquire lock;
    releases_->release();
    try {
      backend.attr("idle")(descriptor);
    } catch (py::error_already_set& error) {  // an interrupt at the wrong moment
      has_tasks_ = false;
      error.discard_as_unraisable("the event loop of the engine");
    }
    return true;
  }

  /// Python's faulthandler tells the frames of a thread in a handler of the same signal: it reads
  /// them without Python's lock, for each version of Python in its own way.
  void answer_stack_signal() {
    program_.describe_stacks(
        {.interpreter_code = reinterpret_cast<std::uintptr_t>(&PyEval_GetFrame)});
    const std::optional<int> number = os::find_stack_signal();
    os::Descriptor notes = os::memory_file("polyxeus-stacks");
    if (!number || !notes.is_open()) return;
    constexpr bool has_all_threads = false;
    try {
      py::module_::import("faulthandler").attr("register")(*number, notes.value(), has_all_threads);
    } catch (py::error_already_set&) {
      return;  // the engine works without
    }
    os::answer_stack_signal(*number, std::move(notes));
  }

  EngineProgram program_{Language::python};
  const pid_t process_ = ::getpid();
  std::shared_ptr<python::ReleaseList> releases_;
  std::atomic<bool> has_tasks_ = false;
};

}  // namespace
}  // namespace px::engine

PYBIND11_MODULE(_engine, module) {
  using px::engine::PythonEngine;
  module.doc() = "The C++ half of the Python engine.";
  module.attr("__version__") = px::version;
  py::register_exception<px::engine::EngineFailure>(module, "Failure");
  py::class_<px::python::ReceivedBuffer>(module, "ReceivedBuffer", py::buffer_protocol())
      .def_buffer([](const px::python::ReceivedBuffer& buffer) { return buffer.info(); })
      .def("__len__", &px::python::ReceivedBuffer::size);
  const auto option = [](auto member) {
    return [member](const PythonEngine& engine) { return engine.program().options().*member; };
  };
  py::class_<PythonEngine>(module, "Engine")
      .def(py::init<>())
      .def("parse", &PythonEngine::parse)
      .def("describe_mpi",
           [](PythonEngine& engine, const std::string& mpi, const std::string& interrupts) {
             engine.program().describe_mpi(mpi, interrupts);
           })
      .def("join_mpi", &PythonEngine::join_mpi, py::arg("library"), py::arg("error_type"))
      .def("find_info", &PythonEngine::find_info)
      .def("start", &PythonEngine::start, py::arg("watcher_program"), py::arg("info") = py::none())
      .def_property_readonly(
          "wants_info_of_rank_0",
          [](const PythonEngine& engine) { return engine.program().wants_info_of_rank_0(); })
      .def("wait_registered", &PythonEngine::wait_registered)
      .def("run", &PythonEngine::run)
      .def("write", &PythonEngine::write)
      .def("publish", &PythonEngine::publish)
      .def("bind_kernel", &PythonEngine::bind_kernel)
      .def("input", &PythonEngine::input)
      .def("expect_answer", &PythonEngine::expect_answer)
      .def("wait_answer", &PythonEngine::wait_answer, py::arg("seconds") = py::none())
      .def_property_readonly("request_header", &PythonEngine::request_header)
      .def_property_readonly("allows_input", &PythonEngine::allows_input)
      .def_property_readonly("outlives_client", &PythonEngine::outlives_client)
      .def_property_readonly("is_tracing", &PythonEngine::is_tracing)
      .def("record", &PythonEngine::record)
      .def("stop", &PythonEngine::stop)
      .def("wait_place_question", &PythonEngine::wait_place_question)
      .def("answer_place", &PythonEngine::answer_place)
      .def("leave_place_finder", &PythonEngine::leave_place_finder)
      .def("set_has_tasks", &PythonEngine::set_has_tasks)
      .def_property_readonly("world", &PythonEngine::world)
      .def_property_readonly("broken_world", &PythonEngine::broken_world)
      .def_property_readonly("has_abandoned_world", &PythonEngine::has_abandoned_world)
      .def_property_readonly(
          "uuid", [](const PythonEngine& engine) { return engine.program().uuid().text; })
      .def_property_readonly(
          "profile_dir",
          [](const PythonEngine& engine) { return engine.program().paths().root.string(); })
      .def_property_readonly("command", option(&px::engine::EngineOptions::command))
      .def_property_readonly("script", option(&px::engine::EngineOptions::script))
      .def_property_readonly("colors", option(&px::engine::EngineOptions::colors));
  module.def("exit_within", &px::os::exit_within);
  module.def("free_memory", &px::os::free_memory);
  module.def("why_no_room", [](const std::string& folder, std::uint64_t bytes) {
    return px::os::why_no_room(px::engine::folder_descriptor(folder).value(), bytes);
  });
  module.def("has_disk_room", [](const std::string& folder, std::uint64_t bytes) {
    return px::os::has_disk_room(px::engine::folder_descriptor(folder).value(), bytes);
  });
  module.def("mpi_of_launcher",
             [] { return px::engine::mpi_of_launcher(px::program::process_environment()); });
}
