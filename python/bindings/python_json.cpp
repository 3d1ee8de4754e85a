#include "python/bindings/python_json.hpp"

#include <cstdint>

#include "client/requests/client_error.hpp"
#include "wire/checked_json.hpp"

namespace py = pybind11;

namespace px::bindings {

py::object python_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object: {
      py::dict dict;
      for (const auto& [key, member] : value.items()) dict[py::str(key)] = python_of(member);
      return dict;
    }
    case Json::value_t::array: {
      py::list list;
      for (const Json& member : value) list.append(python_of(member));
      return list;
    }
    case Json::value_t::string: {
      const std::string& text = value.get_ref<const std::string&>();
      PyObject* const decoded =
          PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace");
      if (decoded == nullptr) throw py::error_already_set();
      return py::reinterpret_steal<py::object>(decoded);
    }
    case Json::value_t::boolean:
      return py::bool_(value.get<bool>());
    case Json::value_t::number_integer:
      return py::int_(value.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return py::int_(value.get<std::uint64_t>());
    case Json::value_t::number_float:
      return py::float_(value.get<double>());
    default:
      return py::none();
  }
}

Json json_of(const std::string& text) {
  return client::value_or_throw(read_json(text, max_json_depth - 8));
}

}  // namespace px::bindings
