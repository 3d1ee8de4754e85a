// polyxeus._client: the C++ client library for Python. It knows requests and replies as bytes;
// what they mean to people is made in the packages of polyxeus/.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "client/client.hpp"
#include "interpreters/python/python_buffers.hpp"
#include "net/discovery/profile_paths.hpp"
#include "os/memory_group.hpp"
#include "os/private_file.hpp"
#include "os/segments/joined_memory.hpp"
#include "wire/nearest_name.hpp"

#include "python/bindings/connection_binding.hpp"
#include "python/bindings/magics_binding.hpp"
#include "python/bindings/tasks.hpp"

namespace py = pybind11;

namespace px::bindings {
namespace {

PyObject* python_type_of(const client::ClientError& error) {
  if (dynamic_cast<const client::TimeoutError*>(&error) != nullptr) return PyExc_TimeoutError;
  switch (error.kind()) {
    case ErrorKind::bad_input:
      return PyExc_ValueError;
    case ErrorKind::not_found:
      return PyExc_IndexError;
    case ErrorKind::lost_peer:
      return PyExc_ConnectionError;
    case ErrorKind::unsupported:
      return PyExc_NotImplementedError;
    case ErrorKind::system:
      return PyExc_OSError;
    case ErrorKind::overloaded:
      return PyExc_TimeoutError;
  }
  return PyExc_RuntimeError;
}

/// The path of a client's connection file, by the same rules as all programs of ours.
std::string client_file(const std::string& profile, const std::string& profile_dir,
                        const std::string& ipython_dir,
                        const std::optional<std::string>& cluster_id) {
  const net::ProfileChoice choice{profile, profile_dir, ipython_dir, cluster_id.value_or(""),
                                  cluster_id.has_value()};
  return client::value_or_throw(net::find_profile(choice)).client_file().string();
}

/// The memory of these buffers, one behind the other, without a copy; None where it needs one.
py::object join_received(const std::vector<py::buffer>& parts) {
  std::vector<std::string_view> bytes;
  for (const py::buffer& part : parts) {
    const py::buffer_info info = part.request();
    bytes.emplace_back(static_cast<const char*>(info.ptr),
                       static_cast<std::size_t>(info.size * info.itemsize));
  }
  auto joined = os::join_mapped(bytes);
  return joined ? py::cast(python::ReceivedBuffer(std::move(*joined))) : py::none();
}

}  // namespace
}  // namespace px::bindings

PYBIND11_MODULE(_client, module) {
  module.doc() = "The C++ client library; programs use it through polyxeus.Client.";
  py::register_local_exception_translator([](std::exception_ptr problem) {
    if (!problem) return;
    try {
      std::rethrow_exception(problem);
    } catch (const px::client::ClientError& error) {
      PyErr_SetString(px::bindings::python_type_of(error), error.what());
    }
  });
  py::class_<px::python::ReceivedBuffer>(module, "ReceivedBuffer", py::buffer_protocol(),
                                         py::module_local())
      .def_buffer([](const px::python::ReceivedBuffer& buffer) { return buffer.info(); })
      .def("__len__", &px::python::ReceivedBuffer::size);
  module.def("join_received", &px::bindings::join_received,
             "Returns the memory of these buffers, one after the other, without a copy; None if a "
             "copy is needed.");
  px::bindings::bind_tasks(module);
  px::bindings::bind_connection(module);
  px::bindings::bind_magics(module);
  module.def("free_memory", &px::os::free_memory,
             "Returns the bytes of free memory on this host or in the control group of this "
             "process, whichever are fewer.");
  module.def("nearest_name", &px::nearest_name,
             "Returns the name that was probably meant; None if no name is similar.");
  module.def(
      "read_private_file",
      [](const std::string& path) {
        return px::client::value_or_throw(px::os::read_private_file(path));
      },
      "Returns the text of a file that only its owner may read.");
  module.def("client_file", &px::bindings::client_file, py::arg("profile") = "",
             py::arg("profile_dir") = "", py::arg("ipython_dir") = "",
             py::arg("cluster_id") = py::none(),
             "Returns the path of the connection file for clients.");
}
