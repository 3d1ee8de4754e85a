#include "controller/journal/task_backlog.hpp"

#include <variant>

#include "controller/journal/journal_record.hpp"

namespace px::controller {
namespace {

/// A longer request is not written and read on the thread that serves all others.
constexpr std::size_t longest_written = std::size_t{1} << 20;
/// Frames up to this are kept in memory of their own: libzmq's would keep its whole buffer.
constexpr std::size_t small_waiting = 4096;
/// After a read that failed.
constexpr Duration between_reads = std::chrono::seconds(1);

std::string mib(std::size_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

Result<void> TaskBacklog::push(Waiting task, bool may_write, const Load& load) {
  if (knows(task.msg_id.text)) return {};
  const TaskDigest digest = digest_of(task.msg_id.text);
  const bool is_written = may_write && write(task);
  if (!is_written) {
    const std::size_t bytes = total_bytes(*task.frames);
    if (limits_.bytes > 0 && load.bytes + memory_bytes_ + bytes > limits_.bytes)
      return overload(bytes, load);
    if (bytes <= small_waiting) task.frames = compacted(*task.frames);
    memory_bytes_ += bytes;
    in_memory_.push_back(std::move(task));
  }
  are_written_.push_back(is_written);
  known_.insert(digest);
  return {};
}

Error TaskBacklog::overload(std::size_t bytes, const Load& load) const {
  return {ErrorKind::overloaded,
          "too many unfinished tasks: they hold " + mib(load.bytes + memory_bytes_) +
              " of memory, and this task has " + mib(bytes) + "; the controller's limit is " +
              mib(limits_.bytes) +
              ": wait for results first, free disk space, or raise --task-queue-mib"};
}

bool TaskBacklog::write(const Waiting& task) {
  if (!files_ || total_bytes(*task.frames) > longest_written) return false;
  std::string text;
  append_submitted(text, 0, task.msg_id.text, *task.frames);
  const Result<void> written = files_->push(text);
  if (!written && !is_write_refused_)
    errors_.push_back("waiting tasks stay in memory: " + written.error().what);
  is_write_refused_ = !written;
  return written.has_value();
}

/// It was accepted: it is not to be refused by the queue.
bool TaskBacklog::has_room(const Load& load) const {
  if (empty() || load.tasks >= limits_.tasks) return false;
  if (!next_ || limits_.bytes == 0 || load.tasks == 0) return true;
  return load.bytes + total_bytes(*next_->frames) <= limits_.bytes;
}

std::optional<TaskBacklog::Waiting> TaskBacklog::pop(const Load& load, Instant now) {
  if (!has_room(load) || now < next_try_) return std::nullopt;
  if (!next_) next_ = read(now);
  if (!next_ || !has_room(load)) return std::nullopt;
  if (!are_written_.front()) memory_bytes_ -= total_bytes(*next_->frames);
  are_written_.pop_front();
  known_.erase(digest_of(next_->msg_id.text));
  return std::exchange(next_, std::nullopt);
}

std::optional<TaskBacklog::Waiting> TaskBacklog::read(Instant now) {
  if (!are_written_.front()) {
    Waiting first = std::move(in_memory_.front());
    in_memory_.pop_front();
    return first;
  }
  const Result<std::string> text = files_->pop();
  if (!text) {
    next_try_ = now + between_reads;
    if (!std::exchange(is_read_refused_, true))
      errors_.push_back(std::to_string(size()) + " tasks wait until they can be read again: " +
                        text.error().what);
    return std::nullopt;
  }
  is_read_refused_ = false;
  auto record = whole_record(*text);
  auto* submitted = record ? std::get_if<JournalSubmitted>(&*record) : nullptr;
  if (submitted) return Waiting{std::move(submitted->msg_id), std::move(submitted->frames)};
  are_written_.pop_front();
  errors_.push_back("a waiting task is lost: the disk returned other data than was written");
  return std::nullopt;
}

std::optional<Instant> TaskBacklog::next_deadline(const Load& load) const {
  return has_room(load) ? std::optional(next_try_) : std::nullopt;
}

}  // namespace px::controller
