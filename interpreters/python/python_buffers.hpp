#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "interpreters/interpreter.hpp"

namespace px::python {

/// Buffers of Python objects that were sent and can be let go. Any thread puts them in, as the
/// transport's threads must never take Python's lock; the main thread lets them go.
class ReleaseList {
 public:
  /// wake  called from any thread when there is something to release().
  void on_put(std::function<void()> wake);
  void put(Py_buffer* view);
  /// The caller holds Python's lock.
  void release();

 private:
  std::mutex mutex_;
  std::vector<Py_buffer*> views_;
  std::function<void()> wake_;
};

/// Received bytes as an object with Python's buffer protocol; no copy. Writable, as nobody else
/// has these bytes.
class ReceivedBuffer {
 public:
  explicit ReceivedBuffer(SharedBytes bytes) : bytes_(std::move(bytes)) {}
  pybind11::buffer_info info() const;
  std::size_t size() const { return bytes_.bytes.size(); }

 private:
  SharedBytes bytes_;
};

/// From this size on bytes are shared between C++ and Python in place of copied.
inline constexpr std::size_t shared_from_bytes = 4096;

/// Bytes for Python: a `bytes` object, or a ReceivedBuffer where they are many.
pybind11::object to_python(const SharedBytes& bytes);

/// Of from_python(): whatever can be changed is copied.
inline constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

/// The bytes of any object with the buffer protocol; throws Python's error where it has none.
/// copied_below  fewer bytes than these are copied, but for those of a `bytes`, which nobody
///               changes. Others are shared: what changes them changes the result.
SharedBytes from_python(pybind11::handle object, const std::shared_ptr<ReleaseList>& releases,
                        std::size_t copied_below);

}  // namespace px::python
