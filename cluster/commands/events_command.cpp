#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/commands/commands.hpp"
#include "cluster/commands/event_lines.hpp"
#include "os/descriptor.hpp"
#include "os/private_file.hpp"

namespace px::cluster {
namespace {

constexpr Duration event_interval = std::chrono::milliseconds(200);
constexpr std::size_t most_log_bytes = std::size_t{8} << 20;
/// Of the events before, where new ones are followed.
constexpr std::size_t events_before = 10;

/// Reads what is added to the event log, which is renamed and begun anew now and then.
class GrowingLog {
 public:
  /// begin  where the first line begins that is still to be read.
  GrowingLog(std::filesystem::path path, std::size_t begin) : path_(std::move(path)) {
    open();
    struct stat now {};
    const auto offset = static_cast<off_t>(begin);
    if (file_.is_open() && ::fstat(file_.value(), &now) == 0 && now.st_size >= offset)
      ::lseek(file_.value(), offset, SEEK_SET);
  }
  /// The whole lines that have come.
  std::vector<std::string> take() {
    read_more();
    if (is_renamed()) {
      open();
      read_more();
    }
    std::vector<std::string> lines;
    std::size_t begin = 0;
    for (std::size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
      lines.push_back(rest_.substr(begin, end - begin));
    rest_.erase(0, begin);
    return lines;
  }

 private:
  void open() { file_ = os::Descriptor{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)}; }
  void read_more() {
    char buffer[16384];
    while (file_.is_open()) {
      const ssize_t count = ::read(file_.value(), buffer, sizeof buffer);
      if (count <= 0) return;
      rest_.append(buffer, static_cast<std::size_t>(count));
    }
  }
  bool is_renamed() const {
    struct stat there {
    }, here{};
    if (::stat(path_.c_str(), &there) != 0) return false;
    return !file_.is_open() || ::fstat(file_.value(), &here) != 0 || there.st_ino != here.st_ino;
  }

  const std::filesystem::path path_;
  os::Descriptor file_;
  std::string rest_;
};

void print_event(const EventLine& event, bool as_json) {
  std::cout << (as_json ? event.json : event.text) << '\n';
}

/// Prints events as they come, until Ctrl-C or until the reader of standard output has closed it.
int follow(GrowingLog log, bool as_json) {
  while (std::cout.flush()) {
    for (const std::string& line : log.take())
      if (const auto event = read_event_line(line)) print_event(*event, as_json);
    std::this_thread::sleep_for(event_interval);
  }
  return 1;
}

}  // namespace

int run_command(const program::ProgramOptions& program, const EventsOptions& options,
                Console& console) {
  const auto paths = net::find_profile(program.profile);
  if (!paths) return fail(console, paths.error());
  std::optional<WallTime> since;
  if (!options.since.empty()) since = *read_since(options.since, wall_now());
  std::vector<std::string> texts;
  std::size_t length = 0;  // of the file that grows
  for (const auto& file : {paths->old_event_file(), paths->event_file()}) {
    auto text = os::read_file(file, most_log_bytes);
    length = text ? text->rfind('\n') + 1 : 0;  // npos + 1 = 0
    if (text) texts.push_back(std::move(*text));
  }
  if (texts.empty() && !options.follow)
    return fail(console,
                {ErrorKind::not_found,
                 "there is no event log of " + called(*paths) + " in " + paths->log().string() +
                     ": the controller writes it on its own host; on other hosts use rc.events()"});
  const std::size_t most =
      options.follow && !since ? events_before : std::numeric_limits<std::size_t>::max();
  for (const EventLine& event : choose_events(texts, since, most))
    print_event(event, options.as_json);
  if (options.follow) return follow({paths->event_file(), length}, options.as_json);
  return std::cout.flush() ? 0 : 1;
}

}  // namespace px::cluster
