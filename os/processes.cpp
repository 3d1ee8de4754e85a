#include "os/processes.hpp"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <system_error>
#include <thread>

#include "os/command_words.hpp"
#include "os/host.hpp"
#include "os/private_file.hpp"
#include "wire/text.hpp"

namespace px::os {
namespace {

/// The fields of /proc/<pid>/stat from the state on: [0] state, [3] session, [19] start time.
std::vector<std::string> read_stat(int pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return {};
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return {};
  return split_words(std::string_view(*text).substr(name_end + 1), false).words;
}

long long number(const std::string& text) {
  long long value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Seconds since 1970 at which this computer was started.
std::optional<long long> boot_time() {
  const auto text = read_file("/proc/stat");
  if (!text) return std::nullopt;
  const std::size_t at = text->find("\nbtime ");
  if (at == std::string::npos) return std::nullopt;
  return number(text->substr(at + 7, text->find('\n', at + 1) - at - 7));
}

std::string birth(const std::vector<std::string>& fields) {
  const std::string boot = boot_id();
  return boot.empty() || fields.size() < 20 ? "" : boot + ":" + fields[19];
}

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/// The TCP port at the other end of a socket; 0: it has none.
int peer_port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket.value(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

}  // namespace

Births births_in_session(int session) {
  Births members;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int pid = static_cast<int>(number(entry.path().filename().string()));
    if (pid <= 1 || pid == ::getpid()) continue;
    const auto fields = read_stat(pid);
    if (fields.size() > 3 && number(fields[3]) == session) members.emplace(pid, birth(fields));
  }
  return members;
}

std::string command_line_of(int pid) {
  const auto read = read_file("/proc/" + std::to_string(pid) + "/cmdline");
  std::string text = read ? *read : "";
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& each : text)
    if (static_cast<unsigned char>(each) < ' ') each = ' ';
  return text;
}

void LocalProcesses::pause(Duration time) {
  std::this_thread::sleep_for(time);
}

bool LocalProcesses::is_alive(int pid) {
  if (pid <= 0 || ::kill(pid, 0) != 0) return false;
  const auto fields = read_stat(pid);
  return !fields.empty() && fields[0] != "Z" && fields[0] != "X";
}

void LocalProcesses::signal(int pid, int signal, bool whole_session) {
  if (pid <= 1) return;
  if (whole_session)
    for (const auto& member : births_in_session(pid)) ::kill(member.first, signal);
  else
    ::kill(pid, signal);
}

std::optional<WallTime> LocalProcesses::started_at(int pid) {
  const auto fields = read_stat(pid);
  const auto boot = boot_time();
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (fields.size() < 20 || !boot || ticks <= 0) return std::nullopt;
  return WallTime{std::chrono::seconds(*boot) +
                  std::chrono::microseconds(number(fields[19]) * 1'000'000 / ticks)};
}

std::string LocalProcesses::birth_of(int pid) {
  return birth(read_stat(pid));
}

Descriptor open_pidfd(pid_t pid) {
  return Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
}

std::vector<Descriptor> share_connections(pid_t pid, int peer_port) {
  std::vector<Descriptor> shared;
  const Descriptor process = open_pidfd(pid);
  std::error_code error;
  const std::filesystem::path folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto number = read_whole_number(entry.path().filename().string());
    const auto target = std::filesystem::read_symlink(entry.path(), error).string();
    if (!process.is_open() || !number || !target.starts_with("socket:")) continue;
    Descriptor socket{static_cast<int>(::syscall(SYS_pidfd_getfd, process.value(), *number, 0))};
    if (socket.is_open() && peer_port_of(socket) == peer_port) shared.push_back(std::move(socket));
  }
  return shared;
}

}  // namespace px::os
