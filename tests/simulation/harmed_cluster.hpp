#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/setting.hpp"
#include "tests/simulation/simulated_disk.hpp"
#include "tests/simulation/world.hpp"

namespace px::simulation {

/// What simulated clusters have in common: how time passes, and the harm that is done to the
/// controller's process and disk.
class HarmedCluster {
 public:
  virtual ~HarmedCluster() = default;

 protected:
  explicit HarmedCluster(const Setting& setting);

  // Of the cluster itself.
  virtual bool has_controller() const = 0;
  virtual void end_controller() = 0;    ///< Without a word.
  virtual void start_controller() = 0;  ///< Another one, by the same command.
  virtual void cut_all(Instant up) = 0;  ///< All connections to the controller.
  virtual void add_engine() = 0;
  virtual void end_engines() = 0;  ///< All of them, as their host has no power.
  virtual void disk_failed() = 0;  ///< What is written from now on may be lost.
  virtual void check_always() = 0;
  virtual void check_at_rest() = 0;

  /// Until nothing is going to happen any more.
  Outcome run_to_rest();
  void kill_controller(const std::string& when = "");
  void harm_disk();
  void add_engine_or_wait();
  /// How long a connection is to be broken. It is told.
  Duration begin_gap(const std::string& what);
  /// Happens unless this controller has ended until then.
  template <class Event>
  void later(int low_ms, int high_ms, Event event) {
    world_.after(world_.between(low_ms, high_ms),
                 [this, event = std::move(event), known = outcome_.controllers] {
                   if (has_controller() && known == outcome_.controllers) event();
                 });
  }
  template <class One>
  One& any_of(const std::vector<One*>& all) {
    return *all[static_cast<std::size_t>(world_.pick(0, static_cast<int>(all.size()) - 1))];
  }
  bool has(Defect defect) const { return setting_.defect == defect; }

  const Setting setting_;
  World world_;
  Outcome outcome_;
  std::shared_ptr<SimulatedDisk> disk_;  // null: there is no journal
  bool is_writing_ = false;              // the controller that ends

 private:
  bool step();
  void fill_disk();
  void lose_power();
};

}  // namespace px::simulation
