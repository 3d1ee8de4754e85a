#include "magics/cell_trace.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>

namespace px::magics {
namespace {

constexpr std::string_view recording = "recording\n";  // what the program says when it has begun
constexpr std::string_view complaint = "pxcluster: error: ";
constexpr int interrupt_interval_ms = 50;

/// Appends what can be read; false at the end.
bool read_more(const os::Descriptor& from, std::string& text) {
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(from.value(), bytes.data(), bytes.size());
  if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

}  // namespace

Result<CellTrace> CellTrace::begin(const std::vector<std::string>& command) {
  Result<os::Pipe> input = os::make_pipe();
  if (!input) return input.error();
  os::SpawnOptions options;
  options.argv = command;
  options.input = input->read_end.value();
  options.output = os::OutputPipe{};
  options.errors = os::SameAsOutput{};
  options.own_session = true;  // an interrupt of the cell does not end it
  Result<os::Spawned> program = os::spawn(options);
  if (!program) return program.error();
  std::string said;
  while (!said.ends_with(recording))
    if (!read_more(program->output, said)) {
      if (said.starts_with(complaint)) said.erase(0, complaint.size());
      return Error{ErrorKind::bad_input, said.substr(0, said.find_last_not_of('\n') + 1)};
    }
  return CellTrace{std::move(*program), std::move(input->write_end)};
}

void CellTrace::end(CellOutput& screen) {
  input_.close();
  std::string said;
  pollfd output{program_.output.value(), POLLIN, 0};
  for (bool is_open = true; is_open;) {
    if (::poll(&output, 1, interrupt_interval_ms) > 0)
      is_open = read_more(program_.output, said);
    else if (screen.is_interrupted())
      program_.process.signal_group(SIGINT);
  }
  program_.process.wait();
  if (!said.empty()) screen.perform(WriteText{"stdout", std::move(said)});
}

}  // namespace px::magics
