#include "interpreters/python/python_buffers.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace py = pybind11;

namespace px::python {

void ReleaseList::on_put(std::function<void()> wake) {
  const std::lock_guard lock{mutex_};
  wake_ = std::move(wake);
}

void ReleaseList::put(Py_buffer* view) {
  const std::lock_guard lock{mutex_};
  views_.push_back(view);
  if (wake_ && views_.size() == 1) wake_();
}

void ReleaseList::release() {
  std::vector<Py_buffer*> views;
  {
    const std::lock_guard lock{mutex_};
    views.swap(views_);
  }
  for (Py_buffer* view : views) {
    PyBuffer_Release(view);
    delete view;
  }
}

py::buffer_info ReceivedBuffer::info() const {
  return py::buffer_info(const_cast<char*>(bytes_.bytes.data()), 1, "B", 1,
                         {static_cast<py::ssize_t>(bytes_.bytes.size())}, {1});
}

py::object to_python(const SharedBytes& bytes) {
  if (bytes.bytes.size() < shared_from_bytes)
    return py::bytes(bytes.bytes.data(), bytes.bytes.size());
  return py::cast(ReceivedBuffer(bytes));
}

SharedBytes from_python(py::handle object, const std::shared_ptr<ReleaseList>& releases,
                        std::size_t copied_below) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_SIMPLE) != 0)
    throw py::error_already_set();
  const std::string_view bytes{static_cast<const char*>(view->buf),
                               static_cast<std::size_t>(view->len)};
  const bool can_change = !PyBytes_CheckExact(object.ptr());
  if (bytes.size() < (can_change ? std::max(copied_below, shared_from_bytes) : shared_from_bytes)) {
    SharedBytes copy = owned_bytes(std::string(bytes));
    PyBuffer_Release(view.get());
    return copy;
  }
  const std::shared_ptr<Py_buffer> owner{view.release(),
                                         [releases](Py_buffer* held) { releases->put(held); }};
  return {bytes, owner};
}

}  // namespace px::python
