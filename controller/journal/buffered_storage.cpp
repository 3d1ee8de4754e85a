#include "controller/journal/buffered_storage.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

namespace px::controller {
namespace {

/// Entries up to this are gathered and written to the disk together, so many bytes at once.
constexpr std::size_t small_entry = std::size_t{64} << 10;
constexpr std::size_t longest_write = std::size_t{1} << 20;
/// write() cuts a longer text into several entries.
constexpr std::size_t longest_entry = std::size_t{1} << 20;
/// The thread looks for more so many times, pausing, before it asks to be woken.
constexpr int idle_looks = 20;

struct Write {
  JournalBuffer::BufferedWrite entry;
};
struct Remove {
  SegmentNumber segment;
};
struct SetAside {
  SegmentNumber segment;
};
struct Read {
  SegmentNumber segment;
};
using Order = std::variant<Write, Remove, SetAside, Read>;

}  // namespace

struct BufferedStorage::State {
  State(std::shared_ptr<JournalStorage> storage, std::unique_ptr<JournalBuffer> memory,
        const Times& limits)
      : disk(std::move(storage)), buffer(std::move(memory)), times(limits) {
    for (const JournalBuffer::BufferedWrite& left : buffer->entries()) add(Write{left});
  }

  // ------------------------------------------------------------ under the mutex
  void add(Order order) {
    orders.push_back(std::move(order));
    ++added;
    if (sleeps) has_orders.notify_one();
  }
  /// The orders that the thread performs next, as one: the first order alone, or several small
  /// writes to one segment, whose joined bytes are put into `text`.
  std::vector<Order> next(std::string& text) {
    const auto* first = std::get_if<Write>(&orders.front());
    if (!first || first->entry.size > small_entry) return {orders.front()};
    const SegmentNumber segment = first->entry.segment;
    std::uint64_t end = first->entry.offset;
    std::vector<Order> together;
    for (const Order& order : orders) {
      const auto* write = std::get_if<Write>(&order);
      const bool fits = write && write->entry.segment == segment && write->entry.offset == end &&
                        write->entry.size <= small_entry && text.size() <= longest_write;
      if (!fits) break;
      for (const std::string_view part : buffer->text_of(write->entry)) text += part;
      end += write->entry.size;
      together.push_back(order);
    }
    return together;
  }
  void done(const std::vector<Order>& together) {
    for (const Order& order : together) {
      if (const auto* write = std::get_if<Write>(&order)) buffer->pop(write->entry);
      orders.pop_front();
    }
    performed += together.size();
    const bool has_recovered = std::exchange(error, std::nullopt).has_value();
    const bool has_room = std::exchange(is_full, false);
    if (has_recovered || has_room) waker.wake();
    progress.notify_all();
  }
  /// Whether there may be more room now. A disk that is just slow is waited for.
  bool wait_for_room(std::unique_lock<std::mutex>& lock) {
    const std::uint64_t before = performed;
    ++is_awaited;
    has_orders.notify_one();
    progress.wait_for(lock, times.slowness, [&] { return performed != before || error; });
    --is_awaited;
    return performed != before;
  }
  bool is_hanging() const { return begun && Clock::now() - *begun > times.patience; }

  // ------------------------------------------------------------ the thread
  Result<void> perform(const std::vector<Order>& together, const std::string& text) {
    const Order& first = together.front();
    if (const auto* write = std::get_if<Write>(&first))
      return text.empty() ? perform(write->entry)
                          : disk->write(write->entry.segment, write->entry.offset, text);
    if (const auto* remove = std::get_if<Remove>(&first)) return disk->remove(remove->segment);
    if (const auto* aside = std::get_if<SetAside>(&first)) return disk->set_aside(aside->segment);
    const SegmentNumber segment = std::get<Read>(first).segment;
    auto read = disk->read(segment);
    const std::lock_guard lock{mutex};
    was_read.emplace(segment, std::move(read));
    waker.wake();
    return {};
  }
  Result<void> perform(const JournalBuffer::BufferedWrite& entry) {
    const auto [text, rest] = buffer->text_of(entry);
    auto written = disk->write(entry.segment, entry.offset, text);
    return written && !rest.empty() ? disk->write(entry.segment, entry.offset + text.size(), rest)
                                    : written;
  }
  void run() {
    ::pthread_setname_np(::pthread_self(), "journal-disk");
    std::unique_lock lock{mutex};
    for (int looks = 0;;) {
      if (orders.empty()) {
        if (is_ending) return;
        pause(lock, looks++ < idle_looks ? std::optional(times.pause) : std::nullopt);
        continue;
      }
      looks = 0;
      std::string text;
      const std::vector<Order> together = next(text);
      begun = Clock::now();
      lock.unlock();
      const Result<void> result = perform(together, text);
      lock.lock();
      begun.reset();
      if (result || !std::holds_alternative<Write>(together.front())) {
        if (!result) errors.push_back(result.error().what);
        done(together);
        if (orders.empty() && !is_ending) pause(lock, times.pause);
      } else {
        if (!error) waker.wake();
        error = result.error();
        progress.notify_all();
        if (is_ending) return;
        has_orders.wait_for(lock, times.retry, [this] { return is_ending; });
      }
    }
  }
  /// duration  nothing: until there is an order.
  void pause(std::unique_lock<std::mutex>& lock, std::optional<Duration> duration) {
    const auto is_due = [this, &duration] {
      return is_ending || (!orders.empty() && (is_awaited || !duration));
    };
    sleeps = !duration;
    if (duration)
      has_orders.wait_for(lock, *duration, is_due);
    else
      has_orders.wait(lock, is_due);
    sleeps = false;
  }

  const std::shared_ptr<JournalStorage> disk;
  const std::unique_ptr<JournalBuffer> buffer;
  const Times times;
  net::Waker waker;

  mutable std::mutex mutex;
  std::condition_variable has_orders, progress;
  std::deque<Order> orders;
  std::uint64_t added = 0, performed = 0;
  bool sleeps = false;  // it is to be woken by an order
  int is_awaited = 0;   // so many wait for the disk
  bool is_ending = false, has_ended = false;
  bool is_given_up = false;      // sync() is
  bool is_full = false;          // the buffer was
  bool is_told = false;          // that the disk hangs
  std::optional<Instant> begun;  // what is performed now
  std::optional<Error> error;    // of the latest write
  std::optional<std::pair<SegmentNumber, Result<std::string>>> was_read;
  std::optional<SegmentNumber> is_read;
  std::vector<std::string> errors;
};

BufferedStorage::BufferedStorage(std::shared_ptr<JournalStorage> disk,
                                 std::unique_ptr<JournalBuffer> buffer, const Times& times)
    : state_(std::make_shared<State>(std::move(disk), std::move(buffer), times)) {
  std::thread{[state = state_] {
    state->run();
    const std::lock_guard lock{state->mutex};
    if (state->orders.empty()) state->buffer->remove();
    state->has_ended = true;
    state->progress.notify_all();
  }}.detach();
}

BufferedStorage::~BufferedStorage() {
  std::unique_lock lock{state_->mutex};
  state_->is_ending = true;
  state_->waker = {};
  state_->has_orders.notify_one();
  state_->progress.wait_for(lock, state_->times.end, [this] { return state_->has_ended; });
}

Result<std::vector<SegmentNumber>> BufferedStorage::segments() {
  std::vector<SegmentNumber> all;
  {
    const std::lock_guard lock{state_->mutex};
    for (const Order& order : state_->orders)
      if (const auto* write = std::get_if<Write>(&order)) all.push_back(write->entry.segment);
  }
  const auto written = state_->disk->segments();
  if (!written) return written;
  all.insert(all.end(), written->begin(), written->end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Result<std::string> BufferedStorage::read(SegmentNumber segment) {
  // Before the disk is read: what reaches it meanwhile is the same.
  std::vector<std::pair<std::uint64_t, std::string>> waiting;
  {
    const std::lock_guard lock{state_->mutex};
    for (const Order& order : state_->orders)
      if (const auto* write = std::get_if<Write>(&order);
          write && write->entry.segment == segment) {
        const auto [text, rest] = state_->buffer->text_of(write->entry);
        waiting.emplace_back(write->entry.offset, std::string(text) += rest);
      }
  }
  Result<std::string> written = state_->disk->read(segment);
  if (!written && waiting.empty()) return written;
  std::string whole = written ? std::move(*written) : std::string{};
  for (const auto& [offset, text] : waiting) {
    whole.resize(std::max<std::size_t>(whole.size(), offset + text.size()));
    whole.replace(offset, text.size(), text);
  }
  return whole;
}

/// A text of more than one entry that is refused may leave its start, which the next write covers.
Result<void> BufferedStorage::write(SegmentNumber segment, std::uint64_t offset,
                                    std::string_view text) {
  State& state = *state_;
  std::unique_lock lock{state.mutex};
  while (!text.empty()) {
    if (state.error) return *state.error;
    const std::string_view part = text.substr(0, longest_entry);
    const auto entry = state.buffer->push(segment, offset, part);
    if (!entry && state.orders.empty()) return state.disk->write(segment, offset, text);
    if (!entry && state.wait_for_room(lock)) continue;
    if (!entry) {
      state.is_full = true;
      return entry.error();
    }
    state.add(Write{*entry});
    offset += part.size();
    text.remove_prefix(part.size());
  }
  return {};
}

Result<void> BufferedStorage::sync() {
  State& state = *state_;
  std::unique_lock lock{state.mutex};
  const std::uint64_t wanted = state.added;
  ++state.is_awaited;
  state.has_orders.notify_one();
  state.progress.wait(lock, [&] { return state.performed >= wanted || state.is_given_up; });
  --state.is_awaited;
  if (state.performed < wanted)
    return Error{ErrorKind::system, "the controller ended before all was written"};
  lock.unlock();
  return state.disk->sync();
}

Result<void> BufferedStorage::sync_all() {
  if (auto synced = sync(); !synced) return synced;
  return state_->disk->sync_all();
}

Result<void> BufferedStorage::remove(SegmentNumber segment) {
  const std::lock_guard lock{state_->mutex};
  state_->add(Remove{segment});
  return {};
}

Result<void> BufferedStorage::set_aside(SegmentNumber segment) {
  const std::lock_guard lock{state_->mutex};
  state_->add(SetAside{segment});
  return {};
}

void BufferedStorage::stop_waiting() {
  const std::lock_guard lock{state_->mutex};
  state_->is_given_up = true;
  state_->progress.notify_all();
}

std::string BufferedStorage::name_of(SegmentNumber segment) const {
  return state_->disk->name_of(segment);
}

bool BufferedStorage::accepts() const {
  const std::lock_guard lock{state_->mutex};
  return !state_->error && !state_->is_full;
}

std::optional<Result<std::string>> BufferedStorage::read_later(SegmentNumber segment) {
  const std::lock_guard lock{state_->mutex};
  if (state_->was_read && state_->was_read->first == segment) {
    state_->is_read.reset();
    return std::exchange(state_->was_read, std::nullopt)->second;
  }
  if (state_->is_read != segment) {
    state_->is_read = segment;
    state_->add(Read{segment});
  }
  return std::nullopt;
}

std::optional<std::string> BufferedStorage::trouble() const {
  const State& state = *state_;
  const std::lock_guard lock{state.mutex};
  if (state.error) return state.error->what;
  if (state.is_hanging())
    return "the disk has not answered for " + format_age(Clock::now() - *state.begun);
  if (state.is_full) return "the data that waits for the disk has filled its shared memory";
  return std::nullopt;
}

std::vector<std::string> BufferedStorage::take_errors() {
  State& state = *state_;
  const std::lock_guard lock{state.mutex};
  std::vector<std::string> errors = std::exchange(state.errors, {});
  const bool hangs = state.is_hanging();
  if (hangs != std::exchange(state.is_told, hangs))
    errors.push_back(hangs ? "the disk does not answer: until it does, new requests survive the "
                             "end of the controller but not that of its host"
                           : "the disk answers again");
  return errors;
}

void BufferedStorage::set_waker(net::Waker waker) {
  const std::lock_guard lock{state_->mutex};
  state_->waker = std::move(waker);
}

}  // namespace px::controller
