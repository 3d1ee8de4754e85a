#include "client/checkpoints/checkpoint.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <px_version.hpp>

#include "client/core.hpp"
#include "client/requests/request_body.hpp"
#include "client/targets.hpp"
#include "wire/ids.hpp"

namespace px::client {
namespace {

constexpr Duration watch_interval = std::chrono::milliseconds(200);
/// For engines to end what they do, after an interrupt.
constexpr Duration stop_patience = std::chrono::seconds(5);
constexpr const char* progress_type = "application/vnd.polyxeus.checkpoint+json";

Function of_engine(const std::string& name) {
  return "polyxeus.engine_calls.checkpoint." + name;
}

/// The bytes that an engine has told of last.
std::uint64_t bytes_told(const AsyncResult& result, std::size_t task) {
  const auto published = result.publications(task);
  for (auto each = published.rbegin(); each != published.rend(); ++each) {
    const Json data = object_member((*each)->content, "data");
    if (const auto bytes = int_member(object_member(data, progress_type), "bytes"))
      return static_cast<std::uint64_t>(*bytes);
  }
  return 0;
}

CheckpointProgress progress_of(const AsyncResult& result) {
  CheckpointProgress progress{0, result.progress(), result.size()};
  for (std::size_t task = 0; task < result.size(); ++task)
    progress.bytes += bytes_told(result, task);
  return progress;
}

/// Whether its text says all.
bool is_of_checkpoints(const Failure& failure) {
  return failure.name == "CheckpointError" || failure.name == "CheckpointFileError" ||
         failure.name == "DamagedFileError";
}

ErrorKind kind_of_checkpoint(const Failure& failure) {
  if (failure.name == "EngineError") return ErrorKind::lost_peer;
  return failure.name.ends_with("FileError") ? ErrorKind::system : ErrorKind::bad_input;
}

/// "engines 0 and 2: there is no room; engine 1: ..."
std::string say_failures(const std::vector<Failure>& failures) {
  std::map<std::string, std::vector<EngineId>> engines_of;
  for (const Failure& failure : failures) {
    const bool is_ours = is_of_checkpoints(failure);
    auto& engines = engines_of[is_ours ? failure.value : failure.name + ": " + failure.value];
    if (failure.engine) engines.push_back(*failure.engine);
  }
  std::string text;
  for (auto& [what, engines] : engines_of) {
    std::sort(engines.begin(), engines.end());
    if (!text.empty()) text += "; ";
    if (!engines.empty()) text += say_engines(engines) + ": ";
    text += what;
  }
  return text;
}

/// What the engines answer.  errors  ClientError: the sentence begins with `failed`.
std::vector<Json> answers(const AsyncResult& result, const std::string& failed,
                          const CheckpointWatch& watch) {
  try {
    while (!result.wait(watch_interval))
      if (watch) watch(progress_of(result));
  } catch (...) {
    result.stop();
    result.wait(stop_patience);
    throw;
  }
  if (const auto failures = result.failures(); !failures.empty())
    throw ClientError(kind_of_checkpoint(failures.front()), failed + say_failures(failures));
  std::vector<Json> all;
  for (const Value& value : result.get()) all.push_back(as<Json>(value));
  return all;
}

/// The engines of a checkpoint; the first one takes care of the folders.
class CheckpointEngines {
 public:
  CheckpointEngines(const DirectView& view, std::string failed, CheckpointWatch watch)
      : view_(view),
        engines_(view.engines()),
        failed_(std::move(failed)),
        watch_(std::move(watch)) {
    if (engines_.empty())
      throw ClientError(ErrorKind::not_found, failed_ + "no engine is registered");
  }

  const std::vector<EngineId>& engines() const { return engines_; }

  Json ask_first(const std::string& name, const Arguments& arguments) const {
    const CheckpointWatch watch = [this](const CheckpointProgress&) {
      if (watch_) watch_({0, 0, engines_.size()});
    };
    return answers(first().call(of_engine(name), arguments), failed_, watch).front();
  }
  /// arguments  for each engine its own.
  std::vector<Json> ask_all(const std::string& name,
                            const std::vector<Arguments>& arguments) const {
    std::vector<ClientCore::Addressed> all;
    for (std::size_t i = 0; i < engines_.size(); ++i)
      all.push_back({engines_[i], call_body(of_engine(name), arguments[i])});
    return answers({view_.core()->send_direct(all, {}), view_.core()}, failed_, watch_);
  }
  std::vector<Json> ask_all(const std::string& name, const Arguments& arguments) const {
    return ask_all(name, std::vector<Arguments>(engines_.size(), arguments));
  }
  /// Tells them to clean up, and waits a moment for it. What comes of it is of no interest.
  void tell_first(const std::string& name, const Arguments& arguments) const {
    tell(first(), name, arguments);
  }
  void tell_all(const std::string& name, const Arguments& arguments) const {
    tell({view_.core(), Targets::ids(engines_)}, name, arguments);
  }

 private:
  DirectView first() const { return {view_.core(), Targets::ids({engines_.front()})}; }
  static void tell(const DirectView& view, const std::string& name, const Arguments& arguments) {
    try {
      view.call(of_engine(name), arguments).wait(stop_patience);
    } catch (const ClientError&) {  // the engine, or the controller, has gone
    }
  }

  const DirectView& view_;
  std::vector<EngineId> engines_;
  std::string failed_;
  CheckpointWatch watch_;
};

Json manifest_of(const CheckpointRequest& request, const std::vector<EngineId>& engines,
                 std::vector<Json> ranks) {
  Json manifest{{"format", 1},
                {"polyxeus", version},
                {"time", format_date(wall_now())},
                {"label", request.label},
                {"size", engines.size()},
                {"ranks", Json::array()}};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i]["rank"] = i;
    ranks[i]["engine"] = engines[i].value;
    manifest["ranks"].push_back(std::move(ranks[i]));
  }
  return manifest;
}

/// The sum of a number that each rank tells, which is taken away from it.
std::uint64_t take_sum(std::vector<Json>& ranks, const char* key) {
  std::uint64_t sum = 0;
  for (Json& rank : ranks) {
    sum += rank.value(key, std::uint64_t{0});
    rank.erase(key);
  }
  return sum;
}

/// For those whose MPI world is lost later. An older controller does not know the message.
void tell_controller(ClientCore& core, const std::string& path) {
  try {
    core.ask_hub("checkpoint_written", {{"path", path}}, stop_patience);
  } catch (const ClientError&) {
  }
}

}  // namespace

Json write_checkpoint(const DirectView& view, const CheckpointRequest& request,
                      const CheckpointWatch& watch) {
  const CheckpointEngines engines{view, "no checkpoint was written: ", watch};
  const std::string token = new_session_id();
  const Json begun = engines.ask_first("begin", {Json(request.path), Json(token)});
  try {
    std::vector<Arguments> arguments;
    for (std::size_t rank = 0; rank < engines.engines().size(); ++rank)
      arguments.push_back({Json(request.path), Json(token), begun.at("previous"), Json(rank),
                           or_null(request.names), Json(request.scattered)});
    std::vector<Json> ranks = engines.ask_all("write", arguments);
    const std::uint64_t written = take_sum(ranks, "written");
    const std::uint64_t linked = take_sum(ranks, "linked");
    Json manifest = manifest_of(request, engines.engines(), std::move(ranks));
    const Json done = engines.ask_first(
        "commit", {Json(request.path), Json(token), Json(manifest.dump(1)), Json(request.keep)});
    manifest["name"] = done.at("name");
    manifest["path"] = request.path + "/" + done.at("name").get<std::string>();
    manifest["removed"] = done.at("removed");
    manifest["written"] = written;
    manifest["linked"] = linked;
    tell_controller(*view.core(), manifest["path"].get<std::string>());
    return manifest;
  } catch (...) {
    engines.tell_first("abort", {Json(request.path), Json(token)});
    throw;
  }
}

namespace {

/// The manifest with the ranks of these engines only, in their order.
Json with_ranks_of(Json manifest, const std::vector<EngineId>& engines) {
  Json ranks = Json::array();
  for (const EngineId engine : engines) {
    const std::size_t before = ranks.size();
    for (const Json& rank : manifest.at("ranks"))
      if (ranks.size() == before && rank.at("engine") == engine.value) ranks.push_back(rank);
    if (ranks.size() == before)
      throw ClientError(ErrorKind::bad_input,
                        "nothing was restored: the checkpoint has no variables of engine " +
                            std::to_string(engine.value));
  }
  manifest["ranks"] = std::move(ranks);
  return manifest;
}

enum class RestoredRanks { all, those_of_engines };

Json restore(const DirectView& view, const std::string& path, const Json& label,
             const RestoreRequest& request, const CheckpointWatch& watch, RestoredRanks ranks) {
  const CheckpointEngines engines{view, "nothing was restored: ", watch};
  const Json found = engines.ask_first("find", {Json(path), label});
  Json manifest = Json::parse(found.at("manifest").get<std::string>());
  if (ranks == RestoredRanks::those_of_engines)
    manifest = with_ranks_of(std::move(manifest), engines.engines());
  const RestorePlan plan =
      value_or_throw(plan_restore(manifest, engines.engines().size(), request));
  const std::string token = new_session_id();
  std::vector<Json> read;
  try {
    std::vector<Arguments> arguments;
    for (const Json& items : plan.items)
      arguments.push_back({found.at("folder"), Json(token), items});
    read = engines.ask_all("load", arguments);
  } catch (...) {
    engines.tell_all("forget", {Json(token)});
    throw;
  }
  engines.ask_all("define", {Json(token), Json(plan.scattered)});
  return {{"path", found.at("folder")},          {"label", manifest.at("label")},
          {"time", manifest.at("time")},         {"ranks", manifest.at("ranks").size()},
          {"engines", engines.engines().size()}, {"names", plan.names},
          {"scattered", plan.scattered},         {"bytes", take_sum(read, "read")}};
}

}  // namespace

Json restore_checkpoint(const DirectView& view, const std::string& path, const Json& label,
                        const RestoreRequest& request, const CheckpointWatch& watch) {
  return restore(view, path, label, request, watch, RestoredRanks::all);
}

Json restore_same_engines(const DirectView& view, const std::string& path, const Json& label,
                          const RestoreRequest& request, const CheckpointWatch& watch) {
  return restore(view, path, label, request, watch, RestoredRanks::those_of_engines);
}

}  // namespace px::client
