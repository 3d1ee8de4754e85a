#include "engine/mpi/passing_thread.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "os/descriptor.hpp"
#include "os/signals_blocked.hpp"
#include "os/written_file.hpp"

namespace px::engine {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int question_tag = 0;
/// Between two looks at MPI while something is under way; and when nothing has come for long.
constexpr Duration shortest_look = microseconds(20), longest_look = milliseconds(20);
constexpr Duration longest_end = std::chrono::seconds(1);

/// A question as a message.
struct QuestionMessage {
  std::array<char, 200> segment{};
  std::uint64_t offset = 0, length = 0;
  std::int64_t tag = 0;
};

std::string question(const SegmentPassing::SegmentPart& part) {
  QuestionMessage made{{}, part.offset, part.length, part.tag};
  std::memcpy(made.segment.data(), part.segment.data(),
              std::min(part.segment.size(), made.segment.size() - 1));
  return {reinterpret_cast<const char*>(&made), sizeof made};
}

}  // namespace

struct PassingThread::State {
  struct Message {
    std::uint64_t request = 0;
    std::string bytes;
  };

  RankMessageFunctions messages;
  std::shared_ptr<const os::SegmentFolder> folder;
  const BrokenWorld* world = nullptr;
  std::function<void()> wake;

  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  SegmentPassing passing;
  SegmentPassing::Effects effects;  // that the thread is to perform
  std::vector<Arrival> arrivals;
  bool is_stopping = false, has_ended = false;

  // Of the thread alone.
  std::thread thread;
  std::map<std::string, os::Descriptor> files;  // of segments that are given
  std::list<Message> sent;
  std::map<int, Message> awaited;  // by tag
  bool has_failed = false;

  void add(SegmentPassing::Effects more) {
    std::move(more.begin(), more.end(), std::back_inserter(effects));
  }

  void run();
  bool work();
  bool has_lost_world();
  void leave_to_mpi();
  bool hear_questions();
  bool receive_answers();
  bool finish_sent();
  void perform(SegmentPassing::Ask& effect);
  void perform(SegmentPassing::SendPart& effect);
  void perform(SegmentPassing::Refuse& effect) { send(effect.part.rank, effect.part.tag, ""); }
  void perform(SegmentPassing::Deliver& effect);
  void perform(SegmentPassing::Lose& effect);
  void send(int rank, int tag, std::string bytes);
  std::string read(const SegmentPassing::SegmentPart& part);
  void arrive(Arrival arrival);
  void close_files();
};

PassingThread::PassingThread(RankMessageFunctions messages,
                             std::shared_ptr<const os::SegmentFolder> folder,
                             const BrokenWorld* world, std::function<void()> wake)
    : state_(std::make_shared<State>()) {
  state_->messages = messages;
  state_->folder = std::move(folder);
  state_->world = world;
  state_->wake = std::move(wake);
  const os::SignalsBlocked blocked;  // they are for the main thread
  state_->thread = std::thread([state = state_] { state->run(); });
}

/// MPI may hold it for ever, as where the main thread waits in a call: then it is left behind.
PassingThread::~PassingThread() {
  std::unique_lock lock{state_->mutex};
  state_->is_stopping = true;
  state_->wake = [] {};
  state_->changed.notify_all();
  const bool has_ended =
      state_->changed.wait_for(lock, longest_end, [this] { return state_->has_ended; });
  lock.unlock();
  if (has_ended)
    state_->thread.join();
  else
    state_->thread.detach();
}

void PassingThread::give(const std::string& segment, std::uint64_t size, std::uint64_t takers) {
  const std::lock_guard lock{state_->mutex};
  state_->passing.give(segment, size, takers);
  state_->changed.notify_all();
}

void PassingThread::filled(const std::string& segment, std::uint64_t bytes) {
  const std::lock_guard lock{state_->mutex};
  state_->add(state_->passing.filled(segment, bytes));
  state_->changed.notify_all();
}

void PassingThread::take(const std::string& segment, int rank, const std::string& given,
                         std::uint64_t size) {
  const std::lock_guard lock{state_->mutex};
  state_->add(state_->passing.take(segment, rank, given, size));
  state_->changed.notify_all();
}

void PassingThread::drop(const std::string& segment) {
  const std::lock_guard lock{state_->mutex};
  state_->add(state_->passing.withdraw(segment));
  state_->passing.drop(segment);
  state_->changed.notify_all();
}

std::vector<PassingThread::Arrival> PassingThread::fetch() {
  const std::lock_guard lock{state_->mutex};
  std::vector<Arrival> arrivals = std::exchange(state_->arrivals, {});
  for (const Arrival& arrival : arrivals)
    if (const auto* piece = std::get_if<Piece>(&arrival))
      state_->add(state_->passing.used(piece->segment));
  if (!arrivals.empty()) state_->changed.notify_all();
  return arrivals;
}

// ---------------------------------------------------------------- the thread

void PassingThread::State::run() {
  Duration pause = shortest_look;
  std::unique_lock lock{mutex};
  while (!is_stopping) {
    if (!passing.is_active() && effects.empty() && sent.empty()) {
      changed.wait(lock);
      continue;
    }
    lock.unlock();
    const bool has_worked = work();
    lock.lock();
    pause = has_worked ? shortest_look : std::min<Duration>(2 * pause, longest_look);
    if (!has_worked && effects.empty() && !is_stopping) changed.wait_for(lock, pause);
  }
  leave_to_mpi();
  has_ended = true;
  changed.notify_all();
}

/// Whether anything went on.
bool PassingThread::State::work() {
  if (has_lost_world()) return false;
  bool has_worked = hear_questions();
  has_worked |= receive_answers();
  has_worked |= finish_sent();
  SegmentPassing::Effects due;
  {
    const std::lock_guard lock{mutex};
    add(passing.on_time(Clock::now()));
    due = std::exchange(effects, {});
  }
  for (SegmentPassing::Effect& effect : due)
    std::visit([this](auto& what) { perform(what); }, effect);
  close_files();
  return has_worked || !due.empty();
}

/// A message of a rank that has died never ends, and MPI is not to be called any more.
bool PassingThread::State::has_lost_world() {
  if (!has_failed && !(world && world->is_broken())) return false;
  SegmentPassing::Effects lost;
  {
    const std::lock_guard lock{mutex};
    lost = passing.lose_all("MPI passes on no more arrays");
    for (SegmentPassing::Effect& effect : std::exchange(effects, {}))
      if (std::holds_alternative<SegmentPassing::Lose>(effect)) lost.push_back(std::move(effect));
  }
  for (SegmentPassing::Effect& effect : lost)
    if (auto* loss = std::get_if<SegmentPassing::Lose>(&effect)) perform(*loss);
  files.clear();
  leave_to_mpi();
  return true;
}

/// MPI may still read and write what is under way: it stays until the process ends.
void PassingThread::State::leave_to_mpi() {
  struct Left {
    std::mutex mutex;
    std::list<std::list<Message>> sent;
    std::list<std::map<int, Message>> awaited;
  };
  static Left& left = *new Left;
  const std::lock_guard lock{left.mutex};
  if (!sent.empty()) left.sent.push_back(std::exchange(sent, {}));
  if (!awaited.empty()) left.awaited.push_back(std::exchange(awaited, {}));
}

bool PassingThread::State::hear_questions() {
  bool has_heard = false;
  QuestionMessage asked;
  int rank = -1;
  for (;;) {
    const long long size = messages.take(question_tag, &rank, &asked, sizeof asked);
    if (size < 0) return has_heard;
    has_heard = true;
    if (size != static_cast<long long>(sizeof asked)) continue;
    asked.segment.back() = '\0';
    const std::lock_guard lock{mutex};
    add(passing.asked({rank, static_cast<int>(asked.tag), asked.segment.data(), asked.offset,
                       asked.length},
                      Clock::now()));
  }
}

bool PassingThread::State::receive_answers() {
  std::vector<int> tags;
  {
    const std::lock_guard lock{mutex};
    tags = passing.awaited();
  }
  bool has_received = false;
  for (const int tag : tags) {
    const auto message = awaited.find(tag);
    if (message == awaited.end()) continue;  // it is about to be asked for
    std::uint64_t size = 0;
    const int done = messages.test(message->second.request, &size);
    if (done == 0) continue;
    has_received = true;
    if (done < 0) {
      has_failed = true;
      return true;
    }
    message->second.bytes.resize(size);
    SegmentPassing::Effects come;
    {
      const std::lock_guard lock{mutex};
      come = passing.received(tag, size);
    }
    for (SegmentPassing::Effect& effect : come)
      std::visit([this](auto& what) { perform(what); }, effect);
    awaited.erase(tag);
  }
  return has_received;
}

bool PassingThread::State::finish_sent() {
  std::uint64_t size = 0;
  return sent.remove_if([&](const Message& message) {
    const int done = messages.test(message.request, &size);
    if (done < 0) has_failed = true;
    return done != 0;
  }) > 0;
}

/// The room for the answer is there before the question.
void PassingThread::State::perform(SegmentPassing::Ask& effect) {
  Message& message = awaited[effect.part.tag];
  message.bytes.resize(effect.part.length);
  message.request = messages.receive(effect.part.rank, effect.part.tag, message.bytes.data(),
                                     message.bytes.size());
  if (message.request == 0) {
    has_failed = true;
    return;
  }
  send(effect.part.rank, question_tag, question(effect.part));
}

void PassingThread::State::perform(SegmentPassing::SendPart& effect) {
  send(effect.part.rank, effect.part.tag, read(effect.part));
}

void PassingThread::State::perform(SegmentPassing::Deliver& effect) {
  arrive(Piece{effect.segment, effect.number, effect.offset,
               std::move(awaited.at(effect.tag).bytes)});
}

void PassingThread::State::perform(SegmentPassing::Lose& effect) {
  arrive(Loss{effect.segment, effect.why});
}

void PassingThread::State::arrive(Arrival arrival) {
  const std::lock_guard lock{mutex};
  arrivals.push_back(std::move(arrival));
  wake();
}

void PassingThread::State::send(int rank, int tag, std::string bytes) {
  Message& message = sent.emplace_back();
  message.bytes = std::move(bytes);
  message.request = messages.send(rank, tag, message.bytes.data(), message.bytes.size());
  if (message.request != 0) return;
  sent.pop_back();
  has_failed = true;
}

/// Empty where it cannot be read: that is a refusal.
std::string PassingThread::State::read(const SegmentPassing::SegmentPart& part) {
  os::Descriptor& file = files[part.segment];
  if (!file.is_open()) file = folder->open_segment(part.segment);
  std::string bytes(part.length, '\0');
  const bool is_read = os::read_at(file.value(), part.offset, bytes.data(), bytes.size());
  return is_read ? bytes : std::string();
}

void PassingThread::State::close_files() {
  if (files.empty()) return;
  const std::lock_guard lock{mutex};
  std::erase_if(files, [this](const auto& entry) { return !passing.gives(entry.first); });
}

}  // namespace px::engine
