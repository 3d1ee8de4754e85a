#include "engine/python/mpi_steps.hpp"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>
#include <utility>

namespace py = pybind11;

namespace px::engine {
namespace {

PythonMpiSteps* of_process = nullptr;

/// Between two looks at Python's signals, for which its lock is taken.
constexpr auto between_looks = std::chrono::milliseconds(5);

class PythonLock {
 public:
  PythonLock() : state_(PyGILState_Ensure()) {}
  ~PythonLock() { PyGILState_Release(state_); }
  PythonLock(PythonLock&&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace

PythonMpiSteps::PythonMpiSteps(const std::string& path, const BrokenWorld& world)
    : world_(world), library_(::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
  if (!library_) throw std::runtime_error(path + " has not been loaded");
  begin_cell_ = find<decltype(begin_cell_)>("px_mpi_begin_cell");
  end_cell_ = find<decltype(end_cell_)>("px_mpi_end_cell");
  tick_ = find<decltype(tick_)>("px_mpi_tick");
}

template <typename Function>
Function PythonMpiSteps::find(const char* name) const {
  void* const found = ::dlsym(library_, name);
  if (!found) throw std::runtime_error(std::string("polyxeus' MPI library has no ") + name);
  return reinterpret_cast<Function>(found);
}

PythonMpiSteps& PythonMpiSteps::join(const std::string& path, py::object error_type,
                                     const BrokenWorld& world) {
  if (of_process) throw std::runtime_error("the MPI library has been joined already");
  of_process = new PythonMpiSteps(path, world);  // MPI calls it until the process ends
  PythonMpiSteps& self = *of_process;
  const px_mpi_hooks hooks{
      &self,
      [](void* pointer) { return static_cast<PythonMpiSteps*>(pointer)->is_interrupted() ? 1 : 0; },
      [](void* pointer, const char* where) { static_cast<PythonMpiSteps*>(pointer)->leave(where); },
      [](void* pointer, const char* why) { static_cast<PythonMpiSteps*>(pointer)->fail(why); },
      [](void* pointer) { return static_cast<PythonMpiSteps*>(pointer)->why_broken(); }};
  const auto join_world = self.find<decltype(&px_mpi_join)>("px_mpi_join");
  {
    const py::gil_scoped_release unlock;
    self.error_code_ = join_world(&hooks);
  }
  if (self.error_code_ != 0) {
    auto* const type = reinterpret_cast<PyTypeObject*>(error_type.release().ptr());
    self.make_mpi_error_ = std::exchange(type->tp_new, &PythonMpiSteps::make_error);
    PyType_Modified(type);
  }
  return self;
}

CellWatch PythonMpiSteps::watch() const {
  if (error_code_ == 0) return {};
  return {begin_cell_,
          [this](const std::optional<std::string>& failure) {
            end_cell_(failure ? failure->c_str() : nullptr);
          },
          [this]() -> std::optional<Duration> {
            const int patience_ms = tick_();
            if (patience_ms < 0) return std::nullopt;
            return std::chrono::milliseconds(patience_ms);
          }};
}

std::optional<RankEndpoint> PythonMpiSteps::rank_endpoint() const {
  int rank = -1;
  const char* const group = find<decltype(&px_mpi_mail)>("px_mpi_mail")(&rank);
  if (!group) return std::nullopt;
  const RankMessageFunctions functions{find<decltype(&px_mpi_send)>("px_mpi_send"),
                                       find<decltype(&px_mpi_receive)>("px_mpi_receive"),
                                       find<decltype(&px_mpi_test)>("px_mpi_test"),
                                       find<decltype(&px_mpi_take)>("px_mpi_take")};
  return RankEndpoint{functions, group, Rank{rank}};
}

bool PythonMpiSteps::is_interrupted() {
  if (pending_) return true;
  const Instant now = Clock::now();
  if (now < next_look_) return false;
  const PythonLock lock;
  next_look_ = Clock::now() + between_looks;
  if (PyErr_Occurred() || PyErr_CheckSignals() == 0) return false;
  py::error_already_set error;
  pending_ = error.value().inc_ref().ptr();
  pending_is_failure_ = false;
  raise_soon();
  return true;
}

void PythonMpiSteps::leave(const char* where) {
  if (!pending_) return;
  const PythonLock lock;
  // "KeyboardInterrupt: in MPI_Barrier, which rank 2 had not reached"
  if (!PyErr_GivenExceptionMatches(pending_, PyExc_KeyboardInterrupt)) return;
  const auto error = py::reinterpret_borrow<py::object>(pending_);
  if (py::len(error.attr("args")) == 0) error.attr("args") = py::make_tuple(where);
}

void PythonMpiSteps::fail(const char* why) {
  if (pending_) return;
  const PythonLock lock;
  PyObject* const text =
      PyUnicode_DecodeUTF8(why, static_cast<Py_ssize_t>(std::strlen(why)), "replace");
  pending_ = PyObject_CallFunctionObjArgs(PyExc_RuntimeError, text, nullptr);
  Py_XDECREF(text);
  pending_is_failure_ = true;
  raise_soon();
}

const char* PythonMpiSteps::why_broken() {
  why_broken_ = world_.why_broken();
  return why_broken_ ? why_broken_->c_str() : nullptr;
}

/// For code that does not look at the error code of the call, such as a C library.
void PythonMpiSteps::raise_soon() {
  Py_AddPendingCall(&PythonMpiSteps::raise_pending, this);
}

int PythonMpiSteps::raise_pending(void* self) {
  auto& steps = *static_cast<PythonMpiSteps*>(self);
  PyObject* const error = std::exchange(steps.pending_, nullptr);
  if (!error) return 0;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  Py_DECREF(error);
  return -1;
}

PyObject* PythonMpiSteps::make_error(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  PythonMpiSteps& steps = *of_process;
  if (steps.pending_ && PyTuple_GET_SIZE(arguments) == 1) {
    const long code = PyLong_AsLong(PyTuple_GET_ITEM(arguments, 0));
    if (code == -1 && PyErr_Occurred()) PyErr_Clear();
    if (code == steps.error_code_) {
      PyObject* const error = std::exchange(steps.pending_, nullptr);
      if (!steps.pending_is_failure_) {
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
        Py_DECREF(error);
        return nullptr;
      }
      Py_DECREF(error);
    }
  }
  return steps.make_mpi_error_(type, arguments, keywords);
}

}  // namespace px::engine
