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
  py::class_<Notices, std::shared_ptr<Notices>>(module, "Notices", py::module_local(),
                                                "Tokens of answered calls, for the threads "
                                                "that wait for the calls.")
      .def(py::init<>())
      .def("take", &take,
           "Returns the tokens that have arrived; waits for the first one, at most for this number "
           "of seconds. Returns an empty list after the timeout, or if the object is closed.")
      .def("put", &Notices::put, "Adds a token.")
      .def("close", &Notices::close, "Closes the object: take() returns no further tokens.")
      .def_property_readonly("is_closed", &Notices::is_closed, "Whether the object is closed.");

  py::class_<Tasks>(module, "Tasks", py::module_local(),
                    "Requests that were sent, of one call or of several.")
      .def_static("joined", &Tasks::joined,
                  "Returns the requests of all of these objects, in their order.")
      .def("select", &Tasks::select, "Returns the requests with these numbers.")
      .def("__len__", &Tasks::size)
      .def("is_one_call", &Tasks::is_one_call, "Returns whether all requests belong to one call.")
      .def("msg_ids", &Tasks::msg_ids, "Returns the ids of the requests.")
      .def("answered", &Tasks::answered, "Returns the number of answered requests.")
      .def("is_answered", &Tasks::is_answered, "Returns whether this request is answered.")
      .def("is_ready", &Tasks::is_ready, "Returns whether all requests are answered.")
      .def("is_output_complete", &Tasks::is_output_complete,
           "Returns whether all output of all requests has arrived.")
      .def("wait", &Tasks::wait, py::arg("seconds") = py::none(),
           "Waits until all are answered; None: without a limit. Returns False after the timeout.")
      .def("wait_output", &Tasks::wait_output, py::arg("seconds") = py::none(),
           "Waits until all output has arrived; None: without a limit. Returns False after the "
           "timeout.")
      .def("wait_sent", &Tasks::wait_sent, py::arg("seconds") = py::none(),
           "Waits until all buffers are sent; None: without a limit. Returns False after the "
           "timeout.")
      .def("outcome", &Tasks::outcome,
           "Returns (\"ok\", content as bytes, buffers), or (status, None, failure). A failure is "
           "(name, text, lines of the traceback, engine id, engine uuid, method, facts about its "
           "class).")
      .def("metadata", &Tasks::metadata,
           "Returns the known facts about a request, without its output.")
      .def("publications", &Tasks::publications,
           "Returns the output of a request so far: [(type, content, metadata, buffers)].")
      .def("events", &Tasks::events,
           "Returns the events from a number on, and the number of the next event. Waits until "
           "there is an event. All requests must belong to one call.")
      .def("notify", &Tasks::notify,
           "Puts a token into the notices once all requests are answered.");
}

}  // namespace px::bindings
