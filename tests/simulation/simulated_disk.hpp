#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/journal/journal_record.hpp"
#include "controller/journal/journal_storage.hpp"
#include "controller/journal/sync_thread.hpp"
#include "controller/journal/text_queue.hpp"
#include "tests/simulation/world.hpp"

namespace px::simulation {

/// The process that was writing has died.
struct Died {};

/// A folder of segments that outlives the controllers. Written bytes outlive a process, synced ones
/// a loss of power, too; of the others any part may be left, and anything in their place.
class SimulatedDisk final : public controller::JournalStorage {
 public:
  explicit SimulatedDisk(World& world) : world_(world) {}

  Result<std::vector<controller::SegmentNumber>> segments() override;
  Result<std::string> read(controller::SegmentNumber segment) override;
  Result<void> write(controller::SegmentNumber segment, std::uint64_t offset,
                     std::string_view text) override;
  Result<void> sync() override;
  Result<void> sync_all() override { return sync(); }
  Result<void> remove(controller::SegmentNumber segment) override;
  Result<void> set_aside(controller::SegmentNumber segment) override { return remove(segment); }

  void set_full(bool is_full) { is_full_ = is_full; }
  bool is_full() const { return is_full_; }
  void set_broken(bool is_broken) { is_broken_ = is_broken; }
  bool is_broken() const { return is_broken_; }
  /// It only says that it has forced anything to the disk: a planted defect.
  void lie() { lies_ = true; }
  /// No record for which `is_lost` holds is there when it is read: a planted defect.
  void lose(std::function<bool(const controller::JournalRecord&)> is_lost) {
    is_lost_ = std::move(is_lost);
  }
  /// The next write writes a part of its text, or all of it, and throws Died.
  void die_at_next_write() { dies_ = true; }
  /// The process is no more: nothing is going to be written by it.
  void process_ended() { dies_ = is_broken_ = false; }
  void lose_power();

 private:
  struct Segment {
    std::string text;
    std::size_t synced = 0;
  };
  World& world_;
  std::map<controller::SegmentNumber, Segment> segments_;
  /// Removed, which the folder on the disk does not say yet; in the order of removal.
  std::vector<std::pair<controller::SegmentNumber, Segment>> removed_;
  bool is_full_ = false, is_broken_ = false, dies_ = false, lies_ = false;
  std::function<bool(const controller::JournalRecord&)> is_lost_;
};

/// Files of a controller that end with it. Some writes fail, of which a disk that is there says
/// when, and some reads.
class SimulatedTexts final : public controller::TextQueue {
 public:
  /// disk  null: there is no journal.
  /// is_last_first  what came last leaves first: a planted defect.
  SimulatedTexts(World& world, std::shared_ptr<SimulatedDisk> disk, bool is_last_first)
      : world_(world), disk_(std::move(disk)), is_last_first_(is_last_first) {}

  Result<void> push(std::string_view text) override;
  Result<std::string> pop() override;

 private:
  World& world_;
  const std::shared_ptr<SimulatedDisk> disk_;
  const bool is_last_first_;
  std::deque<std::string> texts_;
};

/// A thread that syncs, as events: one sync at a time, which takes a while.
class SimulatedSync final : public controller::JournalSync {
 public:
  /// on_done  more is on the disk, or it has failed.
  SimulatedSync(World& world, std::shared_ptr<SimulatedDisk> disk, std::function<void()> on_done)
      : world_(world), disk_(std::move(disk)), on_done_(std::move(on_done)) {}
  ~SimulatedSync() override { *lives_ = false; }

  void request(std::uint64_t number) override;
  std::uint64_t synced() const override { return synced_; }
  std::optional<Error> error() const override { return error_; }

 private:
  void begin();
  World& world_;
  const std::shared_ptr<SimulatedDisk> disk_;
  const std::function<void()> on_done_;
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  std::uint64_t requested_ = 0, synced_ = 0;
  bool is_running_ = false;
  std::optional<Error> error_;
};

}  // namespace px::simulation
