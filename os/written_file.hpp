#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "os/retried.hpp"

namespace px::os {

/// Writes all bytes to a file, a pipe or a terminal. False if that fails: errno gives the reason.
inline bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        retried([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Writes all bytes at this position. False if that fails: errno gives the reason.
inline bool write_at(int file, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = retried(
        [&] { return ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (written <= 0) return false;
    offset += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Reads `size` bytes from this position into `bytes`. False if that fails: errno gives the reason;
/// EIO if the file ends earlier.
inline bool read_at(int file, std::uint64_t offset, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t got =
        retried([&] { return ::pread(file, bytes, size, static_cast<off_t>(offset)); });
    if (got == 0) errno = EIO;
    if (got <= 0) return false;
    offset += static_cast<std::uint64_t>(got);
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace px::os
