#include "engine/stacks/stack_taker.hpp"

#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "engine/stacks/python_frames.hpp"
#include "os/stacks/code_names.hpp"
#include "os/stacks/thread_stacks.hpp"

namespace px::engine {
namespace {

constexpr Duration look_patience = std::chrono::milliseconds(2500);

const char* state_name(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'D':
      return "waiting in the kernel";
    case 'T':
    case 't':
      return "stopped";
    default:
      return "waiting";
  }
}

/// Takes stacks and gives them names. One thread uses it.
class StackReader {
 public:
  explicit StackReader(StackSources sources) : sources_(std::move(sources)) {}

  os::ProcessStacks take() {
    std::vector<os::MappedCode> maps = os::own_code_maps();
    os::TakenStacks taken = os::take_stacks(maps);
    names_.set_maps(std::move(maps));
    os::ProcessStacks stacks{.why = taken.why, .hidden = taken.hidden};
    for (const os::ThreadCalls& calls : taken.threads) {
      os::ThreadFrames& thread =
          stacks.threads.emplace_back(os::ThreadFrames{.thread = calls.thread,
                                                       .name = calls.name,
                                                       .is_main = calls.is_main,
                                                       .state = state_name(calls.state)});
      if (calls.has_answered)
        thread.frames = join_frames(native_frames(calls.calls), read_python_frames(calls.notes),
                                    names_.file_of(sources_.interpreter_code));
      else
        thread.why = "it did not answer a signal";
    }
    return stacks;
  }

 private:
  std::vector<os::StackFrame> native_frames(const std::vector<std::uintptr_t>& calls) {
    const std::vector<os::StackFrame> named = names_.frames_of(calls);
    if (!sources_.cells) return named;
    const auto cells = sources_.cells(calls);
    std::vector<os::StackFrame> frames;
    for (std::size_t i = 0; i < named.size(); ++i)
      if (cells[i].empty())
        frames.push_back(named[i]);
      else
        frames.insert(frames.end(), cells[i].begin(), cells[i].end());
    return frames;
  }

  const StackSources sources_;
  os::CodeNames names_;
};

void serve(AskedThread& questions, StackSources sources) {
  StackReader reader{std::move(sources)};
  while (questions.wait()) questions.answer(os::write_stacks(reader.take()));
  questions.leave();
}

}  // namespace

StackTaker::StackTaker(net::Waker waker, StackSources sources)
    : questions_(std::make_shared<AskedThread>(
          std::move(waker), look_patience,
          Json{{"why", "an earlier look at the stacks still waits, perhaps for a disk"}})),
      sources_(std::move(sources)) {}

StackTaker::~StackTaker() {
  close();
}

void StackTaker::close() {
  if (!thread_.joinable()) return;
  if (questions_->close())
    thread_.join();
  else
    thread_.detach();
}

void StackTaker::ask(Instant now, AskedThread::Then then) {
  if (!thread_.joinable()) try {
      thread_ =
          std::thread([questions = questions_, sources = sources_] { serve(*questions, sources); });
      questions_->expect();
    } catch (const std::system_error& failure) {
      return then({{"why", std::string("no thread can be started: ") + failure.what()}});
    }
  questions_->ask(now, std::move(then));
}

}  // namespace px::engine
