#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/death_watch.hpp"
#include "engine/dialing_channels.hpp"
#include "engine/engine_format.hpp"
#include "engine/heart_watch.hpp"
#include "engine/mpi/rank_endpoint.hpp"
#include "engine/stacks/stack_taker.hpp"
#include "jupyter/io_thread.hpp"
#include "net/lifeline/lifeline.hpp"
#include "os/descriptor.hpp"
#include "os/segments/segment_folder.hpp"
#include "os/segments/segment_store.hpp"
#include "wire/connection_info.hpp"
#include "wire/engine_facts.hpp"
#include "wire/language_plan.hpp"

namespace px::engine {

class TraceAnswers;

class BoundKernel;
class BrokenWorld;
class GpuWatch;
class HeldResults;

struct ServerConfig {
  EngineConnectionInfo info;
  EngineUuid uuid;
  std::string username;
  Language language = Language::python;
  EngineFacts facts;  ///< Its MPI is reported later: see announce_ready().
  std::optional<EngineId> wanted_id;
  Duration registration_timeout = std::chrono::seconds(5);
  int max_heartbeat_misses = 50;
  /// The exit code of an orderly end: 0 under mpiexec, which otherwise ends the whole job.
  int orderly_exit_code = 1;
  /// The pxengine program, for the watcher that reports our death to a controller without lifeline;
  /// empty: there is none.
  std::string watcher_program;
  /// Large arrays are received through it from processes on this host; null: it shares none.
  std::shared_ptr<const os::SegmentFolder> memory = {};
  /// Results that clients of other hosts fetch; null: none.
  std::shared_ptr<HeldResults> results = {};
  /// Segments of results that clients have released: removed when they were unused for a while. May
  /// be null.
  std::shared_ptr<os::SegmentStore> segments = {};
  os::Descriptor watcher_pipe;  ///< To the process that watches this one; closed: none.
  bool is_tunnelled = false;    ///< Its connection to the controller may break while it runs.
  StackSources stacks = {};     ///< The functions of its language for stacks.
  /// Set when the controller reports that a rank has died; outlives the server. May be null.
  BrokenWorld* broken_world = nullptr;
};

/// The I/O thread of an engine: its channels connect to the controller. It registers, answers
/// heartbeats, and keeps the lifeline.
class Server final : public jupyter::IoThread {
 public:
  /// Begins to register at once.
  /// errors  bad_input: the connection info is not usable; system: too few descriptors are left.
  static Result<std::unique_ptr<Server>> start(ServerConfig config);
  ~Server() override;

  /// Waits until the controller has assigned an id.
  /// errors  lost_peer: no answer in time; bad_input: it refused.
  Result<EngineId> wait_registered();
  /// From now on the engine can work: it begins to answer heartbeats, and the hub announces it.
  /// mpi       the MPI that was loaded, or empty.
  /// endpoint  sends its arrays to other ranks, if it can.
  void announce_ready(const EngineFacts& facts = {}, std::optional<RankEndpoint> endpoint = {});
  /// Lets Jupyter's clients connect to this engine; their requests wait in the same queue as the
  /// controller's. Any thread except the I/O thread may call it.
  /// file    the connection file to write; see BoundKernel.
  /// result  the file of the first call, which later calls leave unchanged.
  /// errors  system: as BoundKernel::open(); lost_peer: the engine is ending.
  Result<std::filesystem::path> bind_kernel(const std::filesystem::path& file);

  /// From now on this engine ends as if it had died: it does not sign off at the controller, so
  /// that its parent reports the death and the other ranks of its MPI world do not wait for it. Any
  /// thread.
  void abandon_world() { abandons_world_ = true; }
  bool has_abandoned_world() const { return abandons_world_; }

  const EngineFormat& format() const { return *format_; }
  /// Asks a thread of the interpreter for the line of the user's code.
  AskedThread& place_finder() { return place_finder_; }
  /// The main thread, after finish(): no stack is taken any more. See StackTaker::close().
  void close_stacks() { stack_taker_.close(); }

 private:
  Server(ServerConfig config, Signer signer, Packer packer, std::shared_ptr<EngineFormat> format);

  void begin() override;
  void on_time(Instant now) override;
  void on_termination() override;
  std::optional<Instant> further_deadline() const override;
  void interrupt_main() override;
  void signal_main();
  void on_shutdown_published() override { has_left_ = true; }  // the hub counts it as our departure
  void find_place(std::function<void(Json place)> then) override;
  Json answer_trace(const Json& wish) override;
  void find_stacks(os::StackScope scope, std::function<void(Json stacks)> then) override;
  void close_channels() override;

  void on_controller_message(RequestPtr message);
  void on_registration(RequestPtr reply);
  void register_again();
  void on_second_registration(const Json& content);
  void on_broken_world(const RequestPtr& notice);
  Result<int> read_registration(const Json& content) const;  // the period of heartbeats in ms
  void fail_registration(Error error);
  void note_wishes(const Json& registration);
  void warn_of_other_version(const Json& registration);
  void start_working(int heart_period_ms);
  void start_heart_if_due(Instant now);
  void tell_mpi();
  jupyter::ChannelHandlers handlers_that_note_work();
  void tell_measures();
  void send_measures(EngineMeasures measures);
  EngineFacts facts_of_mpi();
  /// Whether it can run ranks of tasks of several ranks.
  bool forms_gangs() const { return config_.facts.rank && !config_.facts.world.empty(); }
  void start_passing();
  void watch_over_death();
  void keep(Result<DeathWatch> watch);
  void dial_lifeline();
  Result<std::filesystem::path> listen_as_kernel(const std::filesystem::path& file);
  void leave();
  void unregister(EngineId id);

  ServerConfig config_;
  const Packer packer_;
  const Signer signer_;
  const std::shared_ptr<EngineFormat> format_;
  std::optional<net::Context> context_;
  std::optional<DialingChannels> channels_;
  std::unique_ptr<BoundKernel> bound_kernel_;
  std::optional<HeartWatch> heart_watch_;
  std::unique_ptr<GpuWatch> gpus_;
  std::optional<net::LifelineClient> lifeline_;
  std::optional<Instant> redial_at_;
  std::optional<Instant> force_interrupt_at_;  // it waits for a StopPoint until then
  DeathWatch death_watch_;
  AskedThread place_finder_;  // also used by a thread of the interpreter
  StackTaker stack_taker_;
  const std::unique_ptr<TraceAnswers> trace_answers_;
  std::optional<Instant> registration_deadline_;
  std::optional<Instant> heart_deadline_;  // heartbeats are answered from then on, subscribed or
                                           // not
  std::optional<Instant> measures_due_;    // in addition to those after pings
  bool is_subscribed_ = false;
  bool is_beating_ = false;
  bool is_controller_ours_ = false;
  bool takes_measures_ = false;     // the controller does
  bool takes_termination_ = false;  // so too
  bool recalls_ = false;            // the controller supports tasks that are given back
  bool has_left_ = false;

  std::mutex mutex_;  // guards the next four, which the main thread also uses
  std::condition_variable registered_;
  std::optional<Result<EngineId>> registration_;
  EngineFacts mpi_facts_;
  std::optional<RankEndpoint> rank_endpoint_;
  std::atomic<bool> abandons_world_ = false;
  std::atomic<bool> is_ready_ = false;  // whether the interpreter is; set by the main thread
};

}  // namespace px::engine
