#include "client/engine_status.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "client/error.hpp"
#include "client/measured_engines.hpp"
#include "client/memory_use.hpp"
#include "client/place_text.hpp"
#include "wire/checked_json.hpp"
#include "wire/engine_facts.hpp"
#include "wire/text.hpp"

namespace px::client {
namespace {

/// An engine that is not there any more.
EngineStatus read_lost(EngineId id, const Json& said) {
  EngineStatus engine;
  engine.id = id;
  engine.state = "lost";
  const EngineFacts facts = read_engine_facts(said);
  engine.host = facts.host;
  if (facts.rank) engine.rank = facts.rank->value;
  if (facts.pid > 0) engine.pid = facts.pid;
  engine.silent_for = number_member(said, "seconds");
  engine.why_lost = string_member(said, "why").value_or("");
  return engine;
}

/// Asks the controller for its engines and their queues; waits so long for both answers together.
std::map<EngineId, EngineStatus> ask_controller(ClientCore& core, Duration patience) {
  const Instant deadline = Clock::now() + patience;
  const Json known = core.ask_hub("connection_request", {{"facts", true}}, patience).content();
  const Json described = object_member(known, "facts"),
             languages = object_member(known, "languages");
  std::map<EngineId, EngineStatus> engines;
  const Json present = object_member(known, "engines");
  for (const auto& [key, uuid] : present.items()) {
    const std::optional<int> id = read_whole_number(key);
    if (!id) continue;
    EngineStatus& engine = engines[EngineId{*id}];
    const Json said = object_member(described, key);
    const EngineFacts facts = read_engine_facts(said);
    engine.id = EngineId{*id};
    engine.host = facts.host;
    if (facts.rank) engine.rank = facts.rank->value;
    if (facts.pid > 0) engine.pid = facts.pid;
    engine.language = string_member(languages, key).value_or("");
    engine.silent_for = number_member(said, "silent_for");
    engine.mpi = facts.mpi;
    engine.mpi_interrupts = facts.mpi_interrupts;
    engine.gpus = facts.gpus;
    engine.world_broken = string_member(said, "world_broken").value_or("");
  }
  const Json lost = object_member(known, "lost");
  for (const auto& [key, said] : lost.items())
    if (const auto id = read_whole_number(key))
      engines.try_emplace(EngineId{*id}, read_lost(EngineId{*id}, said));
  if (present.empty()) return engines;
  const Duration left = std::max(Duration{}, deadline - Clock::now());
  const Json queues =
      core.ask_hub("queue_request", {{"targets", nullptr}, {"verbose", false}}, left).content();
  for (auto& [id, engine] : engines) {
    const Json counts = object_member(queues, std::to_string(id.value));
    engine.queue = integer_member<int>(counts, "queue").value_or(0) +
                   integer_member<int>(counts, "tasks").value_or(0);
  }
  return engines;
}

/// What an engine says of itself; those of ipyparallel say less.
void add_answer(EngineStatus& engine, const Json& usage) {
  if (engine.host.empty()) engine.host = string_member(usage, "hostname").value_or("");
  if (const auto pid = integer_member<int>(usage, "pid")) engine.pid = *pid;
  engine.memory = number_member(usage, "kernel_memory");
  engine.cpu = number_member(usage, "kernel_cpu_seconds");
  engine.cpu_share = number_member(usage, "cpu_share");
  engine.silent_for.reset();
  const auto queued = integer_member<int>(usage, "queued");
  const Json running = object_member(usage, "running");
  engine.state = (queued ? !running.empty() : engine.queue > 0) ? "busy" : "idle";
  if (queued) engine.queue = *queued;
  engine.runs = string_member(running, "what").value_or("");
  engine.runs_for = number_member(running, "seconds");
  engine.msg_id = string_member(running, "msg_id").value_or("");
  engine.shared_memory = read_shared_memory(usage);
}

std::string age(double seconds) {
  return format_age(duration_of(seconds));
}

std::string memory_text(double bytes) {
  const double mebibytes = bytes / (1 << 20);
  if (mebibytes < 10'000) return std::to_string(std::lround(mebibytes)) + " MiB";
  return std::to_string(std::lround(mebibytes / 1024)) + " GiB";
}

/// "engines 0, 1, 3: MPI world broken: ...". sentence_of  of an engine; "" = it has none.
template <typename SentenceOf>
std::string sentences(const std::vector<EngineStatus>& engines, const SentenceOf& sentence_of) {
  std::map<std::string, std::vector<EngineId>> by_sentence;
  for (const EngineStatus& engine : engines)
    if (const std::string sentence = sentence_of(engine); !sentence.empty())
      by_sentence[sentence].push_back(engine.id);
  std::string text;
  for (const auto& [sentence, ids] : by_sentence)
    text += "engines " + join(ids, ", ", &EngineId::value) + ": " + sentence + "\n";
  return text;
}

constexpr std::size_t columns = 12, gpu_column = 5;
using StatusRow = std::array<std::string, columns>;

StatusRow row_of(const EngineStatus& engine) {
  const auto text = [](const std::optional<int>& value) {
    return value ? std::to_string(*value) : std::string("-");
  };
  const auto known = [](std::string value) { return value.empty() ? "-" : value; };
  const std::string silence = engine.silent_for ? age(*engine.silent_for) : "";
  return {std::to_string(engine.id.value),
          known(engine.host),
          text(engine.rank),
          text(engine.pid),
          known(engine.language),
          known(engine.gpus),
          engine.state == "lost" ? "lost " + silence + " ago"
          : silence.empty()      ? engine.state
                                 : "no answer for " + silence,
          engine.runs_for ? age(*engine.runs_for) : "-",
          std::to_string(engine.queue),
          engine.memory ? memory_text(*engine.memory) : "-",
          engine.cpu ? age(*engine.cpu) : "-",
          engine.runs};
}

SharedMemoryUse::Segments read_segments(const Json& said, const char* key) {
  SharedMemoryUse::Segments read;
  const Json segments = object_member(said, key);
  for (const auto& [identity, bytes] : segments.items())
    if (const auto size = read_integer<std::uint64_t>(bytes)) read[identity] = *size;
  return read;
}

}  // namespace

std::optional<SharedMemoryUse> read_shared_memory(const Json& usage) {
  const Json said = object_member(usage, "shared_memory");
  if (said.empty()) return std::nullopt;
  SharedMemoryUse use;
  use.free = number_member(said, "free");
  use.size = number_member(said, "size");
  use.segments = read_segments(said, "segments");
  use.on_disk = read_segments(said, "on_disk");
  return use;
}

std::vector<EngineStatus> ask_status(ClientCore& core, Duration patience, Duration for_controller,
                                     const Json& measures) {
  std::map<EngineId, EngineStatus> engines = ask_controller(core, for_controller);
  const auto present = core.connection().engines();
  const auto measured = measured_engines(measures);
  std::vector<EngineId> asked;
  for (auto& [id, engine] : engines) {
    if (engine.silent_for || !present->uuid_of(id)) continue;
    const auto row = measured.find(id);
    const Json usage = row == measured.end() ? Json() : measured_usage(*row->second);
    if (usage.empty())
      asked.push_back(id);
    else
      add_answer(engine, usage);
  }
  std::shared_ptr<Call> call;
  if (!asked.empty()) {
    call = core.send_control(asked, "usage_request", Json::object());
    call->wait_ready(Clock::now() + patience);
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (const auto usage = call->reply_content(i)) add_answer(engines.at(asked[i]), *usage);
  }
  std::vector<EngineStatus> rows;
  for (auto& [id, engine] : engines) {
    if (engine.state.empty()) {
      engine.state = "no answer";
      if (!engine.silent_for) engine.silent_for = std::chrono::duration<double>(patience).count();
    }
    rows.push_back(std::move(engine));
  }
  return rows;
}

Json ask_measures(ClientCore& core, Duration patience) try {
  const Json reply = core.ask_hub("measures_request", Json::object(), patience).content();
  return json_member(reply, "measures");
} catch (const RemoteError&) {
  return nullptr;
}

Json status_as_json(const std::vector<EngineStatus>& engines, const Json& measures) {
  const auto measured = measured_engines(measures);
  Json rows = Json::array();
  for (const EngineStatus& engine : engines)
    rows.push_back({{"engine", engine.id.value},
                    {"host", text_or_null(engine.host)},
                    {"rank", or_null(engine.rank)},
                    {"pid", or_null(engine.pid)},
                    {"language", text_or_null(engine.language)},
                    {"state", engine.state},
                    {"silent_for", or_null(engine.silent_for)},
                    {"runs", text_or_null(engine.runs)},
                    {"runs_for", or_null(engine.runs_for)},
                    {"msg_id", text_or_null(engine.msg_id)},
                    {"queue", engine.queue},
                    {"memory", or_null(engine.memory)},
                    {"cpu", or_null(engine.cpu)},
                    {"mpi", text_or_null(engine.mpi)},
                    {"mpi_interrupts", text_or_null(engine.mpi_interrupts)},
                    {"gpus", text_or_null(engine.gpus)},
                    {"world_broken", text_or_null(engine.world_broken)},
                    {"why_lost", text_or_null(engine.why_lost)},
                    {"measures", measured.contains(engine.id) ? *measured.at(engine.id) : Json()}});
  return rows;
}

std::string status_as_text(const std::vector<EngineStatus>& engines) {
  std::vector<StatusRow> rows{{"ENGINE", "HOST", "RANK", "PID", "LANGUAGE", "GPU", "STATE", "SINCE",
                               "QUEUE", "MEMORY", "CPU", "RUNS"}};
  for (const EngineStatus& engine : engines) rows.push_back(row_of(engine));
  std::array<std::size_t, columns> widths{};
  for (const StatusRow& row : rows)
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], row[i].size());
  const bool has_gpus = std::any_of(engines.begin(), engines.end(), [](const EngineStatus& engine) {
    return !engine.gpus.empty();
  });
  std::string text;
  for (const StatusRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < columns; ++i) {
      if (i == gpu_column && !has_gpus) continue;
      line += row[i];
      if (i + 1 < columns) line += std::string(widths[i] + 2 - row[i].size(), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const std::string notes =
      sentences(engines,
                [](const EngineStatus& engine) {
                  return interrupts_text(engine.mpi, engine.mpi_interrupts);
                }) +
      sentences(engines, [](const EngineStatus& engine) { return engine.world_broken; }) +
      sentences(engines,
                [](const EngineStatus& engine) {
                  return engine.why_lost.empty() ? "" : "lost: " + engine.why_lost;
                }) +
      memory_as_text(memory_use(engines, Json::object()));
  return notes.empty() ? text : text + "\n" + notes;
}

}  // namespace px::client
