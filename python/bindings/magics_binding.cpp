#include "python/bindings/magics_binding.hpp"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "interpreters/python/python_buffers.hpp"
#include "magics/cluster_command.hpp"
#include "magics/magic_completion.hpp"
#include "magics/magics.hpp"
#include "magics/progress_text.hpp"
#include "magics/remote_names.hpp"
#include "magics/terminal_progress.hpp"

#include "python/bindings/connection_binding.hpp"
#include "python/bindings/python_json.hpp"
#include "python/bindings/python_lock.hpp"
#include "python/bindings/tasks.hpp"
#include "wire/checked_json.hpp"

namespace py = pybind11;

namespace px::bindings {
namespace {

Json json_of(const py::handle& object) {
  return client::value_or_throw(
      read_json(py::module_::import("json").attr("dumps")(object).cast<std::string>()));
}

/// A CellOutput whose methods are those of a Python object. Called without Python's lock.
class PythonScreen final : public magics::CellOutput {
 public:
  explicit PythonScreen(py::object screen) : screen_(std::move(screen)) {}

  void perform(const magics::Action& action) override {
    const py::gil_scoped_acquire lock;
    std::visit([this](const auto& one) { show(one); }, action);
  }
  bool can_update() override {
    const py::gil_scoped_acquire lock;
    return screen_.attr("can_update").cast<bool>();
  }
  bool shows_progress() override {
    const py::gil_scoped_acquire lock;
    return screen_.attr("can_update").cast<bool>() || !screen_.attr("terminal_size")().is_none();
  }
  bool is_interrupted() override {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) {
      py::error_already_set problem;
      if (!problem.matches(PyExc_KeyboardInterrupt)) throw problem;
      return true;
    }
    return screen_.attr("is_interrupted")().cast<bool>();
  }
  void run_here(const std::string& code) override {
    const py::gil_scoped_acquire lock;
    screen_.attr("run_here")(code);
  }

 private:
  void show(const magics::WriteText& text) {
    draw(progress_.before_text());
    write(text);
    draw(progress_.after_text(text.text.ends_with('\n')));
  }
  void write(const magics::WriteText& text) {
    PyObject* const decoded = PyUnicode_DecodeUTF8(
        text.text.data(), static_cast<py::ssize_t>(text.text.size()), "replace");
    if (decoded == nullptr) throw py::error_already_set();
    screen_.attr("write")(text.stream, py::reinterpret_steal<py::object>(decoded));
  }
  void show(const magics::ShowData& shown) {
    draw(progress_.before_text());
    screen_.attr("show")(python_of(shown.data), python_of(shown.metadata), shown.display_id,
                         shown.is_update);
    draw(progress_.after_text(true));
  }
  void show(const magics::ClearOutput& clear) { screen_.attr("clear")(clear.waits); }
  void show(const magics::ShowProgress& progress) {
    if (screen_.attr("can_update").cast<bool>()) {
      screen_.attr("show_progress")(python_of(magics::progress_data(progress)));
      return;
    }
    const py::object size = screen_.attr("terminal_size")();
    if (size.is_none()) return;
    const auto columns = size.attr("columns").cast<std::size_t>();
    draw(progress_.show(progress, {columns, size.attr("lines").cast<std::size_t>()}));
  }
  /// Writes to the terminal that is below the screen.
  void draw(const std::string& text) {
    if (!text.empty()) screen_.attr("draw")(py::bytes(text).attr("decode")("utf-8", "replace"));
  }

  py::object screen_;
  magics::TerminalProgress progress_;
};

/// A Namespace whose methods are those of a Python object: values are passed as
/// (description, buffers). Called without Python's lock.
class PythonNamespace final : public magics::Namespace {
 public:
  PythonNamespace(py::object variables, std::shared_ptr<python::ReleaseList> releases)
      : variables_(std::move(variables)), releases_(std::move(releases)) {}

  bool has(const std::string& name) override {
    const py::gil_scoped_acquire lock;
    return variables_.attr("has")(name).cast<bool>();
  }
  Result<Value> get(const std::string& name) override {
    return attempt<Value>([&] { return value_of(variables_.attr("get")(name)); });
  }
  Result<std::size_t> count(const std::string& name) override {
    return attempt<std::size_t>([&]() -> Result<std::size_t> {
      return variables_.attr("count")(name).cast<std::size_t>();
    });
  }
  Result<std::vector<Value>> cut(const std::string& name,
                                 const std::vector<client::Block>& blocks) override {
    return attempt<std::vector<Value>>([&]() -> Result<std::vector<Value>> {
      std::vector<Value> values;
      for (const client::Block& block : blocks) {
        auto value = value_of(variables_.attr("cut")(name, block.begin, block.end));
        if (!value) return value.error();
        values.push_back(std::move(*value));
      }
      return values;
    });
  }
  void set(const std::string& name, const Value& value) override {
    const py::gil_scoped_acquire lock;
    variables_.attr("set")(name, described(value));
  }
  void set_list(const std::string& name, const std::vector<Value>& values) override {
    const py::gil_scoped_acquire lock;
    variables_.attr("set_list")(name, described(values));
  }
  Result<void> set_joined(const std::string& name, const std::vector<Value>& parts) override {
    const auto done = attempt<bool>([&]() -> Result<bool> {
      variables_.attr("set_joined")(name, described(parts));
      return true;
    });
    if (!done) return done.error();
    return {};
  }
  std::vector<std::string> forms() const override {
    const py::gil_scoped_acquire lock;
    return variables_.attr("forms").cast<std::vector<std::string>>();
  }

 private:
  /// What `action` gives; a ValueError or TypeError of Python is an Error.
  template <class T>
  Result<T> attempt(const std::function<Result<T>()>& action) {
    const py::gil_scoped_acquire lock;
    try {
      return action();
    } catch (py::error_already_set& problem) {
      if (!problem.matches(PyExc_ValueError) && !problem.matches(PyExc_TypeError)) throw;
      return Error{ErrorKind::bad_input, py::str(problem.value()).cast<std::string>()};
    }
  }
  Result<Value> value_of(const py::object& encoded) {
    const auto parts = encoded.cast<py::tuple>();
    std::vector<SharedBytes> buffers;
    for (const py::handle buffer : parts[1])
      buffers.push_back(python::from_python(buffer, releases_, python::shared_from_bytes));
    return read_value(json_of(parts[0]), buffers);
  }
  static py::tuple described(const Value& value) {
    std::vector<SharedBytes> buffers;
    const Json description = describe(value, buffers);
    py::list list;
    for (const SharedBytes& buffer : buffers) list.append(python::to_python(buffer));
    return py::make_tuple(python_of(description), list);
  }
  static py::list described(const std::vector<Value>& values) {
    py::list list;
    for (const Value& value : values) list.append(described(value));
    return list;
  }

  py::object variables_;
  std::shared_ptr<python::ReleaseList> releases_;
};

/// Magics whose connection, screen and namespace are Python objects.
class PythonMagics {
 public:
  explicit PythonMagics(py::function connection)
      : connect_(std::move(connection)), magics_([this] { return connect(); }) {}

  py::object targets() { return python_of(magics_.settings().targets); }
  void set_targets(const py::object& targets) { magics_.settings().targets = json_of(targets); }
  bool block() { return magics_.settings().block; }
  void set_block(bool block) { magics_.settings().block = block; }

  /// (profile, cluster id, warnings): the first two are None unless the line names another cluster.
  py::tuple pxconfig(const std::string& line) {
    magics::MagicOptions options;
    without_lock([&] { options = magics_.pxconfig(line); });
    return py::make_tuple(options.profile, options.cluster_id, options.warnings);
  }

  std::string settings_text(const std::string& profile, const std::string& cluster_id) {
    return magics::settings_text(magics_.settings(), profile, cluster_id);
  }

  using Show = magics::MagicOutcome (magics::Magics::*)(const std::string&, magics::CellOutput&);
  template <Show magic>
  py::dict show(const std::string& line, py::object screen) {
    return run(std::move(screen),
               [&](magics::CellOutput& on) { return (magics_.*magic)(line, on); });
  }
  py::dict px_cell(const std::string& line, const std::string& cell, py::object screen) {
    return run(std::move(screen),
               [&](magics::CellOutput& on) { return magics_.px_cell(line, cell, on); });
  }

  using Transfer = magics::MagicOutcome (magics::Magics::*)(const std::string&, magics::Namespace&,
                                                            magics::CellOutput&);
  template <Transfer transfer>
  py::dict carry(const std::string& line, py::object variables, py::object screen) {
    PythonNamespace names{std::move(variables), releases_};
    return run(std::move(screen),
               [&](magics::CellOutput& on) { return (magics_.*transfer)(line, names, on); });
  }

 private:
  std::shared_ptr<client::ClientCore> connect() {
    const py::gil_scoped_acquire lock;
    connection_ = connect_().cast<std::shared_ptr<PythonConnection>>();
    return connection_->core();
  }

  py::dict run(py::object screen,
               const std::function<magics::MagicOutcome(magics::CellOutput&)>& magic) {
    releases_->release();
    PythonScreen on{std::move(screen)};
    magics::MagicOutcome outcome;
    without_lock([&] { outcome = magic(on); });
    py::dict told;
    told["tasks"] = py::none();
    if (outcome.result) {
      told["tasks"] = connection_->adopt(outcome.result->call());
      py::list engines;
      for (std::size_t i = 0; i < outcome.result->size(); ++i)
        engines.append(outcome.result->info(i).sent.engine.value_or(EngineId{-1}).value);
      told["engines"] = engines;
    }
    told["is_value"] = outcome.is_value;
    told["save_name"] = outcome.save_name;
    told["has_failed"] = !outcome.failures.empty();
    told["is_displayed"] = outcome.is_displayed;
    told["was_interrupted"] = outcome.was_interrupted;
    return told;
  }

  py::function connect_;
  std::shared_ptr<PythonConnection> connection_;
  std::shared_ptr<python::ReleaseList> releases_ = std::make_shared<python::ReleaseList>();
  magics::Magics magics_;
};

int run_command(const std::vector<std::string>& words, py::object screen) {
  PythonScreen on{std::move(screen)};
  int status = 0;
  without_lock([&] { status = client::value_or_throw(magics::run_program(words, on)); });
  return status;
}

py::object complete_there(PythonConnection& connection, int engine, const std::string& code,
                          int cursor) {
  std::optional<Json> answer;
  const auto core = connection.core();
  without_lock([&] { answer = magics::complete(core, EngineId{engine}, code, cursor); });
  return answer ? python_of(*answer) : py::none();
}

py::object inspect_there(PythonConnection& connection, int engine, const std::string& code,
                         int cursor, int detail_level) {
  std::optional<Json> answer;
  const auto core = connection.core();
  without_lock(
      [&] { answer = magics::inspect(core, EngineId{engine}, code, cursor, detail_level); });
  return answer ? python_of(*answer) : py::none();
}

/// (matches, the fragment that they replace), or None.
py::object complete_magic(const std::string& line, const py::function& help) {
  const auto found = magics::complete_magic(
      line, [&help](const std::string& command) { return help(command).cast<std::string>(); });
  if (!found) return py::none();
  return py::make_tuple(found->matches, line.substr(found->begin));
}

}  // namespace

void bind_magics(py::module_& module) {
  py::class_<PythonMagics>(module, "Magics", py::module_local(), "The parallel magics of one user.")
      .def(py::init<py::function>(), py::arg("connect"))
      .def_property("targets", &PythonMagics::targets, &PythonMagics::set_targets,
                    "The engines of the magics.")
      .def_property("block", &PythonMagics::block, &PythonMagics::set_block,
                    "Whether the magics wait.")
      .def("px_line", &PythonMagics::show<&magics::Magics::px_line>, "Runs %px.")
      .def("px_cell", &PythonMagics::px_cell, "Runs %%px.")
      .def("pxresult", &PythonMagics::show<&magics::Magics::pxresult>, "Runs %pxresult.")
      .def("pxwhere", &PythonMagics::show<&magics::Magics::pxwhere>, "Runs %pxwhere.")
      .def("pxtop", &PythonMagics::show<&magics::Magics::pxtop>, "Runs %pxtop.")
      .def("pxstacks", &PythonMagics::show<&magics::Magics::pxstacks>, "Runs %pxstacks.")
      .def("pxcheckpoint", &PythonMagics::show<&magics::Magics::pxcheckpoint>,
           "Runs %pxcheckpoint.")
      .def("pxrestore", &PythonMagics::show<&magics::Magics::pxrestore>, "Runs %pxrestore.")
      .def("pxconfig", &PythonMagics::pxconfig,
           "Runs %pxconfig; returns the profile and the cluster id that the line names, None for "
           "each that it does not name.")
      .def("settings_text", &PythonMagics::settings_text, "Returns the text that %pxconfig prints.")
      .def("pxpush", &PythonMagics::carry<&magics::Magics::pxpush>, "Runs %pxpush.")
      .def("pxpull", &PythonMagics::carry<&magics::Magics::pxpull>, "Runs %pxpull.")
      .def("pxscatter", &PythonMagics::carry<&magics::Magics::pxscatter>, "Runs %pxscatter.")
      .def("pxgather", &PythonMagics::carry<&magics::Magics::pxgather>, "Runs %pxgather.");
  module.def(
      "magic_usage",
      [](const std::string& name) { return magics::usage(*magics::magic_named(name)); },
      "Returns the help of a magic.");
  module.def("complete_magic", &complete_magic,
             "Returns (matches, the text that they replace) of a line that begins with a magic; "
             "None for other lines.");
  module.def(
      "split_words",
      [](const std::string& line) { return client::value_or_throw(magics::split_words(line)); },
      "Returns the words of a line, split as by a shell.");
  module.def("cluster_command", &magics::cluster_command,
             "Returns the words of the command that a line of %pxcluster runs.");
  module.def("run_program", &run_command,
             "Runs a program, shows its output, and returns its exit code.");
  module.def("complete_remotely", &complete_there,
             "Returns an engine's completions; None if the engine does not answer in time.");
  module.def("inspect_remotely", &inspect_there,
             "Returns an engine's description of a name; None if it does not answer in time.");
}

}  // namespace px::bindings
