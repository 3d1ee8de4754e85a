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
                                                "Tokens of calls that are answered, for the "
                                                "threads that wait for them.")
      .def(py::init<>())
      .def("take", &take,
           "The tokens that came; waits for the first one for so many seconds. Empty: none came, "
           "or closed.")
      .def("put", &Notices::put, "Adds a token.")
      .def("close", &Notices::close, "Ends it: no token is taken any more.")
      .def_property_readonly("is_closed", &Notices::is_closed, "Whether it is closed.");

  py::class_<Tasks>(module, "Tasks", py::module_local(),
                    "Requests that were sent, of one call or of several.")
      .def_static("joined", &Tasks::joined, "All requests of these, in their order.")
      .def("select", &Tasks::select, "The requests with these numbers.")
      .def("__len__", &Tasks::size)
      .def("is_one_call", &Tasks::is_one_call, "Whether all requests are of one call.")
      .def("msg_ids", &Tasks::msg_ids, "The ids of the requests.")
      .def("answered", &Tasks::answered, "How many requests are answered.")
      .def("is_answered", &Tasks::is_answered, "Whether the request with this number is answered.")
      .def("is_ready", &Tasks::is_ready, "Whether all requests are answered.")
      .def("is_output_complete", &Tasks::is_output_complete,
           "Whether all output of all requests is here.")
      .def("wait", &Tasks::wait, py::arg("seconds") = py::none(),
           "Waits until all are answered; None: without a limit. False: not in time.")
      .def("wait_output", &Tasks::wait_output, py::arg("seconds") = py::none(),
           "Waits until all output is here; None: without a limit. False: not in time.")
      .def("wait_sent", &Tasks::wait_sent, py::arg("seconds") = py::none(),
           "Waits until all buffers are sent; None: without a limit. False: not in time.")
      .def("outcome", &Tasks::outcome,
           "(\"ok\", content as bytes, buffers), or (status, None, failure); a failure is (name, "
           "text, lines of the traceback, engine id, engine uuid, method, what is known of its "
           "class).")
      .def("metadata", &Tasks::metadata, "What is known of a request, apart from its output.")
      .def("publications", &Tasks::publications,
           "The output of a request so far: [(type, content, metadata, buffers)].")
      .def("events", &Tasks::events,
           "What happened since an event, and the number of the next one; waits for something. "
           "All requests must be of one call.")
      .def("notify", &Tasks::notify,
           "Puts a token into the notices once all requests are answered.");
}

}  // namespace px::bindings
