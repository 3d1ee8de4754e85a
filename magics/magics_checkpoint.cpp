// The magics that outlive a notebook: %pxcheckpoint, %pxrestore, and %pxresult of another session.

#include <unistd.h>

#include <filesystem>

#include "client/byte_text.hpp"
#include "client/checkpoints/checkpoint.hpp"
#include "client/records/followed_cell.hpp"
#include "magics/magics.hpp"

namespace px::magics {
namespace {

constexpr Duration job_patience = std::chrono::seconds(1);

/// The user has stopped the cell.
struct Interrupted {};

std::optional<std::vector<std::string>> names_in(const MagicOptions& options) {
  if (options.names.empty()) return std::nullopt;
  return options.names;
}

Json label_in(const MagicOptions& options) {
  return options.label.empty() ? Json() : Json(options.label);
}

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

client::CheckpointWatch watch_on(CellOutput& screen) {
  return [&screen, begun = Clock::now()](const client::CheckpointProgress& progress) {
    if (screen.is_interrupted()) throw Interrupted{};
    if (screen.shows_progress())
      screen.perform(ShowProgress{progress.ready,
                                  progress.engines,
                                  Clock::now() - begun,
                                  {client::format_bytes(progress.bytes)}});
  };
}

/// Runs the action and shows what it gives.
MagicOutcome told(CellOutput& screen, const std::function<std::string()>& action) {
  MagicOutcome outcome;
  std::string text;
  try {
    text = action();
  } catch (const Interrupted&) {
    outcome.was_interrupted = true;
  } catch (...) {
    if (screen.shows_progress()) screen.perform(ShowProgress{});
    throw;
  }
  if (screen.shows_progress()) screen.perform(ShowProgress{});
  if (!text.empty()) screen.perform(WriteText{"stdout", text});
  return outcome;
}

}  // namespace

MagicOutcome Magics::pxcheckpoint(const std::string& line, CellOutput& screen) {
  const MagicOptions options = options_of(Magic::pxcheckpoint, line);
  show_warnings(options, screen);
  const client::DirectView view = chosen(options);
  return told(screen, [&] {
    return client::checkpoint_as_text(
        client::write_checkpoint(view,
                                 {absolute(options.path), names_in(options), options.scattered,
                                  label_in(options), options.keep_last.value_or(0)},
                                 watch_on(screen)));
  });
}

MagicOutcome Magics::pxrestore(const std::string& line, CellOutput& screen) {
  const MagicOptions options = options_of(Magic::pxrestore, line);
  const client::DirectView view = chosen(options);
  return told(screen, [&] {
    return client::restored_as_text(
        client::restore_checkpoint(view, absolute(options.path), label_in(options),
                                   {names_in(options), options.scattered}, watch_on(screen)));
  });
}

/// What was asked for in another session, or under a label.
Magics::Sent Magics::recorded(const MagicOptions& options) {
  const std::shared_ptr<client::ClientCore> core = connect_();
  const auto requests =
      client::find_requests(core, label_in(options), options.session, job_patience);
  if (requests.empty())
    throw client::ClientError(
        ErrorKind::not_found,
        "the controller and the engines have no record of a request" +
            (options.label.empty() ? "" : " with the label '" + options.label + "'") +
            (options.session.empty() ? "" : " of the session '" + options.session + "'") +
            ": see %pxcluster jobs --all");
  std::vector<EngineId> engines;
  for (const client::KnownRequest& request : requests) engines.push_back(request.engine);
  return {client::AsyncResult{client::follow_requests(core, requests), core}, engines};
}

}  // namespace px::magics
