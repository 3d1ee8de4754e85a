#include "controller/events/event_file.hpp"

#include <spdlog/async.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "os/private_file.hpp"
#include "wire/checked_json.hpp"
#include "wire/text.hpp"

namespace px::controller {

Result<EventFile> EventFile::open(const std::filesystem::path& path) try {
  spdlog::file_event_handlers handlers;
  handlers.after_open = [](const spdlog::filename_t&, std::FILE* file) {
    ::fchmod(::fileno(file), 0600);
  };
  auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path.string(), most_bytes, 1,
                                                                     false, handlers);
  sink->set_pattern("%v");
  auto lines =
      std::make_shared<spdlog::async_logger>("events", std::move(sink), spdlog::thread_pool(),
                                             spdlog::async_overflow_policy::overrun_oldest);
  lines->flush_on(spdlog::level::info);
  return EventFile{std::move(lines)};
} catch (const spdlog::spdlog_ex& failure) {
  return Error{ErrorKind::system,
               "cannot write the event log " + path.string() + ": " + failure.what()};
}

void EventFile::write(const Json& event) const {
  lines_->info("{}", pack(Packer::json, event));
}

std::vector<Json> EventFile::read_latest(const std::filesystem::path& path, std::size_t most) {
  std::vector<Json> events;
  const auto renamed = spdlog::sinks::rotating_file_sink_mt::calc_filename(path.string(), 1);
  for (const std::filesystem::path& file : {std::filesystem::path(renamed), path}) {
    const Result<std::string> text = os::read_file(file, 2 * most_bytes);
    for (std::string_view rest = text ? std::string_view(*text) : std::string_view();
         !rest.empty();) {
      Result<Json> event = read_json(take_line(rest));
      if (event && event->is_object()) events.push_back(std::move(*event));
    }
  }
  if (events.size() > most)
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(most));
  return events;
}

}  // namespace px::controller
