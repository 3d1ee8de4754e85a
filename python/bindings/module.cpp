// polyxeus._client: the C++ client library for Python. It knows requests and replies as bytes;
// what they mean to people is made in polyxeus/*.py.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <px/client/client.hpp>
#include <px/interpreters/python/python_buffers.hpp>
#include <px/net/private_file.hpp>

#include "connection_binding.hpp"
#include "magics_binding.hpp"
#include "tasks.hpp"

namespace py = pybind11;

namespace px {
namespace {

PyObject* python_type_of(const ClientError& error) {
  if (dynamic_cast<const TimeoutError*>(&error) != nullptr) return PyExc_TimeoutError;
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
  const ProfileChoice choice{profile, profile_dir, ipython_dir, cluster_id.value_or(""),
                             cluster_id.has_value()};
  return value_or_throw(find_profile(choice)).client_file().string();
}

}  // namespace
}  // namespace px

PYBIND11_MODULE(_client, module) {
  module.doc() = "The C++ client library; polyxeus.Client is its public face.";
  py::register_local_exception_translator([](std::exception_ptr problem) {
    if (!problem) return;
    try {
      std::rethrow_exception(problem);
    } catch (const px::ClientError& error) {
      PyErr_SetString(px::python_type_of(error), error.what());
    }
  });
  py::class_<px::ReceivedBuffer>(module, "ReceivedBuffer", py::buffer_protocol(),
                                 py::module_local())
      .def_buffer([](const px::ReceivedBuffer& buffer) { return buffer.info(); })
      .def("__len__", &px::ReceivedBuffer::size);
  px::bind_tasks(module);
  px::bind_connection(module);
  px::bind_magics(module);
  module.def("read_private_file", [](const std::string& path) {
    return px::value_or_throw(px::read_private_file(path));
  });
  module.def("client_file", &px::client_file, py::arg("profile") = "", py::arg("profile_dir") = "",
             py::arg("ipython_dir") = "", py::arg("cluster_id") = py::none());
}
