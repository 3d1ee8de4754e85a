#include "kernel/descriptor_capture.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "interpreters/utf8.hpp"

namespace px::kernel {
namespace {

constexpr std::size_t bytes_per_drain = 1 << 20;
constexpr int wanted_pipe_bytes = 1 << 20;

Error failure(const std::string& call) {
  return Error{ErrorKind::system, "cannot capture the output of child processes: " + call + ": " +
                                      std::strerror(errno)};
}

}  // namespace

Result<std::unique_ptr<DescriptorCapture>> DescriptorCapture::start(Sink sink) {
  std::unique_ptr<DescriptorCapture> capture{new DescriptorCapture(std::move(sink))};
  for (Stream& stream : capture->streams_) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return failure("pipe2");
    stream.reading = os::Descriptor(ends[0]);
    const os::Descriptor writing(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    ::fcntl(ends[1], F_SETPIPE_SZ, wanted_pipe_bytes);  // a small one will do too
    stream.original = os::Descriptor(::fcntl(stream.number, F_DUPFD_CLOEXEC, 3));
    if (::dup2(ends[1], stream.number) < 0) return failure("dup2");
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  return capture;
}

DescriptorCapture::~DescriptorCapture() {
  restore();
}

void DescriptorCapture::restore() {
  std::fflush(stdout);
  for (const Stream& stream : streams_)
    if (stream.original.is_open()) ::dup2(stream.original.value(), stream.number);
}

std::array<int, 2> DescriptorCapture::descriptors() const {
  return {streams_[0].reading.value(), streams_[1].reading.value()};
}

void DescriptorCapture::drain(bool is_last) {
  if (is_last) std::fflush(stdout);
  const std::lock_guard lock{mutex_};
  std::array<pollfd, 2> sources{
      {{streams_[0].reading.value(), POLLIN, 0}, {streams_[1].reading.value(), POLLIN, 0}}};
  if (::poll(sources.data(), sources.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (sources[i].revents & POLLIN) read(streams_[i]);
}

void DescriptorCapture::read(Stream& stream) {
  char bytes[1 << 16];
  for (std::size_t total = 0; total < bytes_per_drain;) {
    const ssize_t count = ::read(stream.reading.value(), bytes, sizeof bytes);
    if (count <= 0) return;
    total += static_cast<std::size_t>(count);
    std::string text = std::move(stream.begun);
    text.append(bytes, static_cast<std::size_t>(count));
    const std::size_t whole = interpreters::whole_characters(text);
    stream.begun = text.substr(whole);
    sink_(stream.name, std::string_view(text).substr(0, whole));
  }
}

}  // namespace px::kernel
