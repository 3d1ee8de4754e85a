#include "client/transfers/result_fetches.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace px::client {
namespace {

/// So often an engine hears of a result whose turn has not come, so that it does not forget it.
constexpr Duration reminder = std::chrono::seconds(30);

/// Frames with others in the places of some.
class PatchedFrames final : public Frames {
 public:
  PatchedFrames(SharedFrames frames, std::vector<std::pair<std::size_t, SharedBytes>> patches)
      : frames_(std::move(frames)), patches_(std::move(patches)) {}
  std::size_t size() const override { return frames_->size(); }
  std::string_view at(std::size_t index) const override {
    for (const auto& [place, bytes] : patches_)
      if (place == index) return bytes.bytes;
    return frames_->at(index);
  }

 private:
  SharedFrames frames_;
  std::vector<std::pair<std::size_t, SharedBytes>> patches_;
};

/// A longer buffer cannot be meant.
constexpr std::uint64_t longest_buffer = std::uint64_t{1} << 40;

/// Memory that is not written before the bytes come; null where there is not so much.
std::shared_ptr<char[]> memory_for(std::uint64_t bytes) {
  if (bytes >= longest_buffer) return nullptr;
  return std::shared_ptr<char[]>(new (std::nothrow) char[static_cast<std::size_t>(bytes)]);
}

/// The engine need not keep the result any more.
ResultFetches::SendRequest release(const EngineUuid& engine, const std::string& name) {
  return {engine, {name, 0, 0, 0, true}};
}

}  // namespace

ResultFetches::Effects ResultFetches::add(ShortReply reply, Instant now) {
  const EngineUuid engine{reply.head.engine};
  if (find(engine, reply.held.name)) return {};
  if (fetches_.empty()) ended_bytes_ = 0;
  auto fetch = std::make_shared<Fetch>();
  std::size_t next_index = 0;  // they ascend, or one would be written beyond the end of another
  for (const os::HeldBuffers::Buffer& buffer : reply.held.buffers) {
    auto memory = memory_for(buffer.bytes);
    const bool has_place = buffer.index >= next_index &&
                           buffer.index < reply.frames->size() - reply.first_buffer;
    next_index = buffer.index + 1;
    if (!memory || !has_place)
      return {Fail{reply.head.parent, memory ? "the reply names a buffer that it does not have"
                                             : "there is not enough memory for a buffer of " +
                                                   std::to_string(buffer.bytes) + " bytes"},
              release(engine, reply.held.name)};
    fetch->memory.push_back(std::move(memory));
    fetch->bytes += buffer.bytes;
    for (std::uint64_t offset = 0; offset < buffer.bytes; offset += piece_bytes)
      fetch->pieces.push_back({reply.held.name, buffer.index, offset,
                               std::min(piece_bytes, buffer.bytes - offset)});
  }
  fetch->engine = engine;
  fetch->deadline = now + reminder;
  fetch->reply = std::move(reply);
  fetches_.push_back(std::move(fetch));
  Effects effects;
  start_some(now, effects);
  return effects;
}

ResultFetches::FetchPtr ResultFetches::find(const EngineUuid& engine,
                                            const std::string& name) const {
  const auto found = std::find_if(fetches_.begin(), fetches_.end(), [&](const FetchPtr& fetch) {
    return fetch->engine == engine && fetch->reply.held.name == name;
  });
  return found == fetches_.end() ? nullptr : *found;
}

void ResultFetches::start_some(Instant now, Effects& effects) {
  std::size_t running = 0;
  for (const FetchPtr& fetch : fetches_) {
    if (running == most_running) return;
    ++running;
    if (std::exchange(fetch->is_running, true)) continue;
    fetch->deadline = now + longest_stall;
    fill_window(*fetch, effects);
  }
}

void ResultFetches::fill_window(Fetch& fetch, Effects& effects) {
  while (fetch.asked < fetch.pieces.size() && fetch.asked < fetch.arrived + window_pieces)
    effects.push_back(SendRequest{fetch.engine, fetch.pieces[fetch.asked++], fetch.has_stalled});
}

void ResultFetches::ask_again(Fetch& fetch, Instant now, Effects& effects) {
  fetch.asked = fetch.arrived;
  fetch.deadline = now + longest_stall;
  fill_window(fetch, effects);
}

ResultFetches::Effects ResultFetches::ask_again(const EngineUuid& engine, Instant now) {
  Effects effects;
  for (const FetchPtr& fetch : fetches_)
    if (fetch->is_running && fetch->engine == engine) ask_again(*fetch, now, effects);
  return effects;
}

ResultFetches::Effects ResultFetches::arrived(const EngineUuid& engine,
                                              const os::FetchedPiece& position,
                                              std::string_view bytes, Instant now) {
  Effects effects;
  const FetchPtr fetch = find(engine, position.name);
  if (!fetch || fetch->arrived >= fetch->asked) return effects;
  const os::FetchedPiece& next = fetch->pieces[fetch->arrived];
  // What was asked for again may come twice.
  if (position.index != next.index || position.offset != next.offset || bytes.size() != next.length)
    return effects;
  const auto& buffers = fetch->reply.held.buffers;
  const auto buffer = std::find_if(buffers.begin(), buffers.end(),
                                   [&](const auto& each) { return each.index == next.index; });
  std::memcpy(fetch->memory[static_cast<std::size_t>(buffer - buffers.begin())].get() + next.offset,
              bytes.data(), bytes.size());
  ++fetch->arrived;
  fetch->bytes_arrived += bytes.size();
  fetch->has_stalled = false;
  fetch->deadline = now + longest_stall;
  if (fetch->arrived < fetch->pieces.size()) {
    fill_window(*fetch, effects);
    return effects;
  }
  effects.push_back(Deliver{fetch->reply.head, whole(*fetch)});
  end(fetch, true, now, effects);
  return effects;
}

SharedFrames ResultFetches::whole(const Fetch& fetch) {
  std::vector<std::pair<std::size_t, SharedBytes>> patches;
  const auto& buffers = fetch.reply.held.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::string_view bytes{fetch.memory[i].get(), static_cast<std::size_t>(buffers[i].bytes)};
    patches.emplace_back(fetch.reply.first_buffer + buffers[i].index,
                         SharedBytes{bytes, fetch.memory[i]});
  }
  return std::make_shared<PatchedFrames>(fetch.reply.frames, std::move(patches));
}

void ResultFetches::end(const FetchPtr& fetch, bool is_release_due, Instant now,
                        Effects& effects) {
  if (is_release_due)
    effects.push_back(release(fetch->engine, fetch->reply.held.name));
  ended_bytes_ += fetch->bytes_arrived;
  std::erase(fetches_, fetch);
  start_some(now, effects);
}

ResultFetches::Effects ResultFetches::refused(const EngineUuid& engine, const std::string& name,
                                              const std::string& why, Instant now) {
  Effects effects;
  const FetchPtr fetch = find(engine, name);
  if (!fetch) return effects;
  effects.push_back(Fail{fetch->reply.head.parent, why});
  end(fetch, false, now, effects);
  return effects;
}

ResultFetches::Effects ResultFetches::lose_engine(const EngineUuid& engine, Instant now) {
  Effects effects;
  std::erase_if(fetches_, [&](const FetchPtr& fetch) { return fetch->engine == engine; });
  start_some(now, effects);
  return effects;
}

ResultFetches::Effects ResultFetches::on_time(Instant now) {
  Effects effects;
  std::vector<FetchPtr> stalled;
  for (const FetchPtr& fetch : fetches_) {
    if (now < fetch->deadline) continue;
    if (fetch->is_running) {
      stalled.push_back(fetch);
      continue;
    }
    const os::FetchedPiece& first = fetch->pieces.front();
    effects.push_back(SendRequest{fetch->engine, {first.name, first.index, 0, 1, false}});
    fetch->deadline = now + reminder;
  }
  for (const FetchPtr& fetch : stalled) {
    if (std::exchange(fetch->has_stalled, true)) {
      effects.push_back(Fail{fetch->reply.head.parent,
                             "no piece of its large buffers has come from the engine for 20 s; "
                             "run it again"});
      end(fetch, true, now, effects);
      continue;
    }
    ask_again(*fetch, now, effects);
  }
  return effects;
}

std::optional<Instant> ResultFetches::next_deadline() const {
  std::optional<Instant> next;
  for (const FetchPtr& fetch : fetches_)
    if (!next || fetch->deadline < *next) next = fetch->deadline;
  return next;
}

TransferProgress ResultFetches::progress() const {
  if (fetches_.empty()) return {};
  TransferProgress progress{ended_bytes_, ended_bytes_};
  for (const FetchPtr& fetch : fetches_) {
    progress.done += fetch->bytes_arrived;
    progress.total += fetch->bytes;
  }
  return progress;
}

ResultFetches::Effects ResultFetches::clear() {
  Effects effects;
  for (const FetchPtr& fetch : fetches_)
    effects.push_back(release(fetch->engine, fetch->reply.held.name));
  fetches_.clear();
  return effects;
}

}  // namespace px::client
