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

/// Buffers of Python objects that were sent and can be released. Any thread adds them, because the
/// transport's threads must never take Python's lock; the main thread releases them.
class ReleaseList {
 public:
  /// wake  called from any thread when release() has work.
  void on_put(std::function<void()> wake);
  void put(Py_buffer* view);
  /// The caller holds Python's lock.
  void release();

 private:
  std::mutex mutex_;
  std::vector<Py_buffer*> views_;
  std::function<void()> wake_;
};

/// Received bytes as an object with Python's buffer protocol; no copy. Writable, because these
/// bytes are not shared.
class ReceivedBuffer {
 public:
  explicit ReceivedBuffer(SharedBytes bytes) : bytes_(std::move(bytes)) {}
  pybind11::buffer_info info() const;
  std::size_t size() const { return bytes_.bytes.size(); }

 private:
  SharedBytes bytes_;
};

/// Bytes of at least this size are shared between C++ and Python instead of copied.
inline constexpr std::size_t shared_from_bytes = 4096;

/// Bytes for Python: a `bytes` object, or a ReceivedBuffer if they are many.
pybind11::object to_python(const SharedBytes& bytes);

/// For from_python(): all bytes that can be changed are copied.
inline constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

/// The bytes of any object with the buffer protocol; throws Python's error if it has none.
/// copied_below  shorter buffers are copied, except those of a `bytes`, which cannot change. Others
///               are shared: changes of them change the result.
SharedBytes from_python(pybind11::handle object, const std::shared_ptr<ReleaseList>& releases,
                        std::size_t copied_below);

}  // namespace px::python
