#include "controller/sight/prometheus_text.hpp"

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/sight/snapshot_json.hpp"

namespace px::controller {
namespace {

/// Backslash, quote and line feed, as a label's value needs it.
std::string escaped_label(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text;
}

/// The shortest text that reads as the same number.
std::string sample_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}
template <std::integral Integer>
std::string sample_text(Integer value) {
  return std::to_string(value);
}

/// A bound of a histogram, in seconds, as Prometheus' own libraries write it: samples with another
/// text would be another series.
std::string bound_text(double value, MetricsFormat format) {
  char buffer[32];
  const auto form = value < 1e-4 ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, form).ptr;
  std::string text{buffer, end};
  const bool is_whole = text.find_first_of(".e") == std::string::npos;
  return format == MetricsFormat::open_metrics && is_whole ? text + ".0" : text;
}

using SampleLabels = std::vector<std::pair<const char*, std::string>>;

constexpr std::string_view counter = "counter";
constexpr std::string_view gauge = "gauge";
constexpr std::string_view info_type = "info";

/// All metrics, in the order in which they are added. A metric's samples stand together.
class MetricWriter {
 public:
  explicit MetricWriter(MetricsFormat format) : format_(format) {}

  /// name  of the samples, as in the text format: those of a counter end in _total, those of an
  ///       info in _info; both endings are no part of a name in OpenMetrics.
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    if (format_ == MetricsFormat::open_metrics) {
      if (type == counter) name.remove_suffix(std::string_view("_total").size());
      if (type == info_type) name.remove_suffix(std::string_view("_info").size());
    } else if (type == info_type) {
      type = gauge;
    }
    describe("HELP", name, help);
    describe("TYPE", name, type);
    if (format_ != MetricsFormat::open_metrics) return;
    for (const std::string_view unit : {"seconds", "bytes", "ratio"})
      if (name.ends_with("_" + std::string(unit))) describe("UNIT", name, unit);
  }
  template <class T>
  void sample(const T& value, const SampleLabels& labels = {}, std::string_view suffix = "") {
    text_ += name_;
    text_ += suffix;
    const char* before = "{";
    for (const auto& [name, said] : labels) {
      text_ += std::string(before) + name + "=\"" + escaped_label(said) + "\"";
      before = ",";
    }
    if (!labels.empty()) text_ += "}";
    text_ += " " + sample_text(value) + "\n";
  }
  template <class T>
  void sample(const std::optional<T>& value, const SampleLabels& labels = {}) {
    if (value) sample(*value, labels);
  }
  template <class T>
  void one(std::string_view name, std::string_view type, std::string_view help, const T& value) {
    begin(name, type, help);
    sample(value);
  }
  void histogram(std::string_view name, std::string_view help, const DurationCounts& counts) {
    begin(name, "histogram", help);
    for (auto decade = std::chrono::microseconds(10); decade <= std::chrono::seconds(1000);
         decade *= 10)
      for (const int step : {1, 2, 5}) {
        const auto bound = decade * step;
        if (bound > std::chrono::seconds(1000)) break;
        const double seconds = static_cast<double>(bound.count()) / 1e6;
        sample(counts.count_below(bound), {{"le", bound_text(seconds, format_)}}, "_bucket");
      }
    sample(counts.count(), {{"le", "+Inf"}}, "_bucket");
    sample(counts.sum(), {}, "_sum");
    sample(counts.count(), {}, "_count");
  }
  std::string take() {
    if (format_ == MetricsFormat::open_metrics) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  void describe(const char* what, std::string_view name, std::string_view said) {
    text_ += std::string("# ") + what + " ";
    text_.append(name).append(" ").append(said).append("\n");
  }

  const MetricsFormat format_;
  std::string_view name_;
  std::string text_;
};

void write_controller(MetricWriter& out, const ControllerView& controller) {
  out.begin("polyxeus_controller_info", info_type, "The controller's version and host; always 1.");
  out.sample(1, {{"version", controller.version}, {"host", controller.host}});
  out.one("polyxeus_controller_start_time_seconds", gauge,
          "When the controller started, in seconds since 1970.", controller.started);
  const ProcessMeasures& process = controller.process;
  out.begin("polyxeus_controller_resident_memory_bytes", gauge,
            "Resident memory of the controller.");
  out.sample(process.memory);
  out.begin("polyxeus_controller_cpu_seconds_total", counter,
            "Processor time that the controller has used.");
  out.sample(process.cpu);
  out.begin("polyxeus_controller_threads", gauge, "Threads of the controller.");
  out.sample(process.threads);
  out.begin("polyxeus_controller_open_fds", gauge,
            "File descriptors that the controller has open.");
  out.sample(process.descriptors);
  out.one("polyxeus_controller_bad_messages_total", counter,
          "Messages that were dropped: malformed or with a wrong signature.",
          controller.bad_messages_total);
  out.one("polyxeus_controller_lost_records_total", counter,
          "Records of requests that were dropped, as they could not be written in time.",
          controller.lost_records_total);
  out.one("polyxeus_request_bytes_total", counter, "Bytes of requests of clients.",
          controller.in_bytes_total);
  out.one("polyxeus_reply_bytes_total", counter, "Bytes of replies to clients.",
          controller.out_bytes_total);
}

void write_work(MetricWriter& out, const Snapshot& snapshot) {
  const WorkView& work = snapshot.work;
  out.one("polyxeus_tasks_queued", gauge, "Balanced tasks that wait for an engine.", work.queued);
  out.one("polyxeus_tasks_running", gauge, "Balanced tasks that engines have.", work.running);
  out.one("polyxeus_direct_requests_unfinished", gauge, "Direct requests that are not answered.",
          work.direct);
  out.one("polyxeus_requests_submitted_total", counter, "Requests of clients, of all kinds.",
          work.submitted_total);
  out.one("polyxeus_requests_finished_total", counter, "Requests that were answered.",
          work.finished_total);
  out.one("polyxeus_requests_failed_total", counter, "Requests that were answered by an error.",
          work.failed_total);
  out.one("polyxeus_tasks_assigned_total", counter,
          "Balanced tasks sent to engines; retries count again.", work.assigned_total);
  out.one("polyxeus_tasks_retried_total", counter,
          "Balanced tasks that ran again after a failed attempt or a lost engine.",
          work.retried_total);
  out.one("polyxeus_clients", gauge, "Clients that asked for something in the last ten minutes.",
          snapshot.clients.size());
  out.histogram("polyxeus_request_duration_seconds", "How long requests ran on engines.",
                snapshot.durations_total);
  out.histogram("polyxeus_task_queue_duration_seconds",
                "How long balanced tasks waited for an engine.", snapshot.queueing_total);
}

void write_labels(MetricWriter& out, const Snapshot& snapshot) {
  const auto each = [&](std::string_view name, std::string_view help, auto value_of) {
    out.begin(name, counter, help);
    for (const LabelView& label : snapshot.labels)
      out.sample(value_of(label), {{"label", label.name}});
  };
  each("polyxeus_label_requests_finished_total",
       "Requests that were answered, by their label; cells are not among them.",
       [](const LabelView& label) { return label.finished_total; });
  each("polyxeus_label_requests_failed_total",
       "Requests that were answered by an error, by their label.",
       [](const LabelView& label) { return label.failed_total; });
  each("polyxeus_label_run_seconds_total",
       "How long requests ran, until their replies reached the controller, by their label.",
       [](const LabelView& label) { return label.run_seconds_total; });
}

SampleLabels labels_of(const EngineView& engine) {
  SampleLabels labels{{"engine", std::to_string(engine.id.value)}, {"host", engine.host}};
  if (engine.rank) labels.emplace_back("rank", std::to_string(engine.rank->value));
  return labels;
}

/// One metric with a sample for each engine.  value_of  a number, or an optional one.
template <class ValueOf>
void per_engine(MetricWriter& out, const Snapshot& snapshot, std::string_view name,
                std::string_view type, std::string_view help, ValueOf value_of) {
  out.begin(name, type, help);
  for (const EngineView& engine : snapshot.engines) out.sample(value_of(engine), labels_of(engine));
}

void write_engine_states(MetricWriter& out, const Snapshot& snapshot) {
  out.begin("polyxeus_engines", gauge, "Registered engines by state.");
  for (const auto state :
       {EngineView::State::idle, EngineView::State::busy, EngineView::State::silent}) {
    std::size_t count = 0;
    for (const EngineView& engine : snapshot.engines) count += engine.state == state ? 1 : 0;
    out.sample(count, {{"state", name_of(state)}});
  }
}

void write_bytes(MetricWriter& out, const Snapshot& snapshot, std::string_view name,
                 std::string_view help, MovedBytes EngineMeasures::*direction) {
  out.begin(name, counter, help);
  for (const EngineView& engine : snapshot.engines) {
    if (!engine.measured_ago) continue;
    const MovedBytes& moved = engine.measures.*direction;
    for (const auto& [way, bytes] :
         {std::pair{"socket", moved.socket}, std::pair{"memory", moved.memory},
          std::pair{"mpi", moved.mpi}}) {
      SampleLabels labels = labels_of(engine);
      labels.emplace_back("way", way);
      out.sample(bytes, labels);
    }
  }
}

void write_engines(MetricWriter& out, const Snapshot& snapshot) {
  write_engine_states(out, snapshot);
  using E = const EngineView&;
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help,
                        auto value_of) { per_engine(out, snapshot, name, type, help, value_of); };
  /// What engines without measures do not say.
  const auto if_measured = [](E engine, auto value) {
    return engine.measured_ago ? std::optional(value) : std::nullopt;
  };
  each("polyxeus_engine_busy", gauge, "1 while the engine has something to do, else 0.",
       [](E e) { return e.state == EngineView::State::busy ? 1 : 0; });
  each("polyxeus_engine_silent", gauge, "1 while the engine does not answer heartbeats, else 0.",
       [](E e) { return e.state == EngineView::State::silent ? 1 : 0; });
  each("polyxeus_engine_resident_memory_bytes", gauge, "Resident memory of the engine.",
       [](E e) { return e.measures.process.memory; });
  each("polyxeus_engine_cpu_seconds_total", counter, "Processor time that the engine has used.",
       [](E e) { return e.measures.process.cpu; });
  each("polyxeus_engine_threads", gauge, "Threads of the engine.",
       [](E e) { return e.measures.process.threads; });
  each("polyxeus_engine_open_fds", gauge, "File descriptors that the engine has open.",
       [](E e) { return e.measures.process.descriptors; });
  each("polyxeus_engine_queued_requests", gauge, "Requests that wait in the engine.",
       [&](E e) { return if_measured(e, e.measures.queued); });
  each("polyxeus_engine_requests_total", counter, "Requests that ran on the engine.",
       [&](E e) { return if_measured(e, e.measures.requests); });
  each("polyxeus_engine_errors_total", counter, "Requests that raised an error on the engine.",
       [&](E e) { return if_measured(e, e.measures.errors); });
  each("polyxeus_engine_mpi_wait_seconds", gauge,
       "For how long the engine has been in its present MPI call; 0: it is in none.",
       [&](E e) { return if_measured(e, e.measures.mpi ? e.measures.mpi->seconds : 0.0); });
  each("polyxeus_engine_torch_wait_seconds", gauge,
       "For how long the engine has been in its present call of torch.distributed; 0: in none.",
       [&](E e) { return if_measured(e, e.measures.torch ? e.measures.torch->seconds : 0.0); });
  write_bytes(out, snapshot, "polyxeus_engine_received_bytes_total",
              "Bytes that the engine has received: by socket, memory or MPI.", &EngineMeasures::in);
  write_bytes(out, snapshot, "polyxeus_engine_sent_bytes_total",
              "Bytes that the engine has sent: by socket, memory or MPI.", &EngineMeasures::out);
}

void write_gpus(MetricWriter& out, const Snapshot& snapshot) {
  const auto each = [&](std::string_view name, std::string_view help, auto value_of) {
    out.begin(name, gauge, help);
    for (const EngineView& engine : snapshot.engines)
      for (const GpuMeasures& gpu : engine.measures.gpus) {
        SampleLabels labels = labels_of(engine);
        labels.emplace_back("gpu", std::to_string(gpu.number));
        out.sample(value_of(gpu), labels);
      }
  };
  each("polyxeus_engine_gpu_busy_ratio", "The share of time in which the GPU worked, 0 to 1.",
       [](const GpuMeasures& gpu) { return gpu.busy; });
  each("polyxeus_engine_gpu_memory_bytes", "Memory of the GPU.",
       [](const GpuMeasures& gpu) { return gpu.memory; });
  each("polyxeus_engine_gpu_memory_used_bytes", "Memory of the GPU that any process uses.",
       [](const GpuMeasures& gpu) { return gpu.used_memory; });
}

void write_hosts(MetricWriter& out, const Snapshot& snapshot) {
  const auto each = [&](std::string_view name, std::string_view help, auto value_of) {
    out.begin(name, gauge, help);
    for (const HostView& host : snapshot.hosts) out.sample(value_of(host), {{"host", host.name}});
  };
  each("polyxeus_host_engines", "Engines on the host.",
       [](const HostView& host) { return host.engines; });
  each("polyxeus_host_memory_bytes", "Memory of the host.",
       [](const HostView& host) { return host.measures.memory; });
  each("polyxeus_host_memory_available_bytes", "Memory that programs on the host can still get.",
       [](const HostView& host) { return host.measures.free_memory; });
  each("polyxeus_host_cores", "Processor cores of the host.",
       [](const HostView& host) { return host.measures.cores; });
  each("polyxeus_host_load1", "Threads that ran or waited for a core in the last minute.",
       [](const HostView& host) { return host.measures.load; });
}

}  // namespace

std::string prometheus_text(const Snapshot& snapshot, MetricsFormat format) {
  MetricWriter out{format};
  write_controller(out, snapshot.controller);
  write_work(out, snapshot);
  write_labels(out, snapshot);
  write_engines(out, snapshot);
  write_gpus(out, snapshot);
  write_hosts(out, snapshot);
  return out.take();
}

}  // namespace px::controller
