#include "engine/stacks/stack_taker.hpp"

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

  os::ProcessStacks take(os::StackScope scope) {
    std::vector<os::MappedCode> maps = os::own_code_maps();
    os::TakenStacks taken = os::take_stacks(maps, scope);
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
        thread.why = scope == os::StackScope::running_main && calls.state != 'R'
                         ? "it waits, and was not interrupted"
                         : "it did not answer a signal";
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

/// In answers of StackScope::running_main.
constexpr const char* of_main_alone = "only_main";

}  // namespace

StackTaker::StackTaker(net::Waker waker, StackSources sources)
    : shared_(new ThreadQuestions{
          {std::move(waker), look_patience,
           Json{{"why",
                 "an earlier request for the stacks is still running; it may wait for a disk"}}}}),
      sources_(std::move(sources)) {}

StackTaker::~StackTaker() {
  close();
}

void StackTaker::close() {
  if (!thread_.joinable()) return;
  if (shared_->questions.close())
    thread_.join();
  else
    thread_.detach();
}

void StackTaker::serve(ThreadQuestions& shared, StackSources sources) {
  StackReader reader{std::move(sources)};
  while (shared.questions.wait()) {
    const auto scope =
        shared.wants_all.exchange(false) ? os::StackScope::all : os::StackScope::running_main;
    Json answer = os::write_stacks(reader.take(scope));
    if (scope == os::StackScope::running_main) answer[of_main_alone] = true;
    shared.questions.answer(std::move(answer));
  }
  shared.questions.leave();
}

void StackTaker::start_thread() {
  if (thread_.joinable()) return;
  thread_ = std::thread([shared = shared_, sources = sources_] { serve(*shared, sources); });
  shared_->questions.expect();
}

void StackTaker::ask(Instant now, os::StackScope scope, AskedThread::Then then) {
  try {
    start_thread();
  } catch (const std::system_error& failure) {
    return then({{"why", std::string("no thread can be started: ") + failure.what()}});
  }
  if (scope == os::StackScope::running_main) return shared_->questions.ask(now, std::move(then));
  shared_->wants_all = true;
  shared_->questions.ask(now, [this, then = std::move(then)](Json answer) {
    if (!answer.contains(of_main_alone)) return then(std::move(answer));
    ask(Clock::now(), os::StackScope::all, then);  // the thread was at an earlier question
  });
}

}  // namespace px::engine
