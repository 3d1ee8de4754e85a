#include <pybind11/stl.h>

#include "python/bindings/python_lock.hpp"
#include "python/bindings/tasks.hpp"

namespace py = pybind11;

namespace px::bindings {
namespace {

std::vector<std::uint64_t> take(Notices& notices, double seconds) {
  std::vector<std::uint64_t> tokens;
  without_lock([&] { tokens = notices.take(deadline_in(seconds).value_or(Instant::max())); });
  return tokens;
}

}  // namespace

void bind_tasks(py::module_& module) {
  py::class_<Notices, std::shared_ptr<Notices>>(module, "Notices", py::module_local())
      .def(py::init<>())
      .def("take", &take)
      .def("put", &Notices::put)
      .def("close", &Notices::close)
      .def_property_readonly("is_closed", &Notices::is_closed);

  py::class_<Tasks>(module, "Tasks", py::module_local())
      .def_static("joined", &Tasks::joined)
      .def("select", &Tasks::select)
      .def("__len__", &Tasks::size)
      .def("is_one_call", &Tasks::is_one_call)
      .def("msg_ids", &Tasks::msg_ids)
      .def("answered", &Tasks::answered)
      .def("is_answered", &Tasks::is_answered)
      .def("is_ready", &Tasks::is_ready)
      .def("is_output_complete", &Tasks::is_output_complete)
      .def("wait", &Tasks::wait, py::arg("seconds") = py::none())
      .def("wait_output", &Tasks::wait_output, py::arg("seconds") = py::none())
      .def("wait_sent", &Tasks::wait_sent, py::arg("seconds") = py::none())
      .def("outcome", &Tasks::outcome)
      .def("metadata", &Tasks::metadata)
      .def("publications", &Tasks::publications)
      .def("events", &Tasks::events)
      .def("notify", &Tasks::notify);
}

}  // namespace px::bindings
