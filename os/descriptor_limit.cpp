#include "os/descriptor_limit.hpp"

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <string>

#include "os/retried.hpp"

namespace px::os {
namespace {

std::size_t soft_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

/// How many of the numbers from `begin` up to `end` are no open descriptors.
std::size_t count_closed(std::size_t begin, std::size_t end) {
  std::array<pollfd, 256> places;
  for (std::size_t i = begin; i < end; ++i) places[i - begin] = {static_cast<int>(i), 0, 0};
  if (retried([&] { return ::poll(places.data(), end - begin, 0); }) < 0) return 0;
  return static_cast<std::size_t>(
      std::count_if(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(end - begin),
                    [](const pollfd& place) { return (place.revents & POLLNVAL) != 0; }));
}

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t soft = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : soft;
}

/// From the highest number on: the system gives out the lowest ones first.
std::size_t free_descriptors(std::size_t enough) {
  constexpr std::size_t at_once = 256;
  std::size_t found = 0;
  for (std::size_t end = soft_limit(); end > 0 && found < enough;) {
    const std::size_t begin = end - std::min(end, at_once);
    found += count_closed(begin, end);
    end = begin;
  }
  return std::min(found, enough);
}

Result<void> require_descriptors(std::size_t count, std::string_view who) {
  const std::size_t left = free_descriptors(count);
  if (left >= count) return {};
  return Error{ErrorKind::system, "too few file descriptors: " + std::string(who) + " takes " +
                                      std::to_string(count) + ", and this process may open " +
                                      std::to_string(left) + " more of its limit of " +
                                      std::to_string(soft_limit()) +
                                      ": close files or clients, or raise the limit (ulimit -n)"};
}

}  // namespace px::os
