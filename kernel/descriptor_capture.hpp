#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "os/descriptor.hpp"
#include "wire/error.hpp"

namespace px::kernel {

/// Leads what child processes and C code write to the descriptors 1 and 2 of this process to a
/// function of ours. Any thread may call it. There is one in a process.
class DescriptorCapture {
 public:
  /// sink  gets whole characters of "stdout" or "stderr"; never called by two threads at once.
  using Sink = std::function<void(std::string_view stream, std::string_view text)>;

  /// errors  system: no pipes.
  static Result<std::unique_ptr<DescriptorCapture>> start(Sink sink);
  ~DescriptorCapture();

  /// Gives the descriptors back; what was written before can still be drained.
  void restore();

  /// Passes on what has been written by now. A bounded amount; the rest comes next time.
  /// is_last  what C code holds in its buffer of stdout is wanted too.
  void drain(bool is_last);

  /// Readable when there is something to drain().
  std::array<int, 2> descriptors() const;
  /// The standard error that the process was started with: for its log.
  int original_stderr() const { return streams_[1].original.value(); }

 private:
  struct Stream {
    const char* name;
    int number;
    os::Descriptor original;
    os::Descriptor reading;
    std::string begun;  // the beginning of a character
  };
  explicit DescriptorCapture(Sink sink) : sink_(std::move(sink)) {}
  void read(Stream& stream);

  Sink sink_;
  std::mutex mutex_;
  std::array<Stream, 2> streams_{Stream{"stdout", 1, {}, {}, {}}, Stream{"stderr", 2, {}, {}, {}}};
};

}  // namespace px::kernel
