#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "wire/error.hpp"

namespace px::os {

/// The failures that a file must survive. Only the first waits for the disk.
enum class Survives { power_loss, process };

/// Writes the file so that a reader sees the old one or the whole new one, never a part: to a
/// temporary name next to it, which is renamed. Mode 0600 unless `mode` differs.
/// errors  system: the message names the path and the system's error.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text,
                                   unsigned mode = 0600, Survives survives = Survives::power_loss);

/// The whole file.  errors  not_found, system; bad_input: longer than max_bytes.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t max_bytes = std::size_t{16} << 20);

/// The whole file, which must be private: its owner is this user or root, and no other user may
/// read or write it (a file of root's may be readable by its group, like secrets in containers).
/// errors  as read_file(); bad_input: it is not private: the message gives the fix.
Result<std::string> read_private_file(const std::filesystem::path& path);

/// Why a file of this owner and mode is not private for `user`; nothing if it is. Pure.
std::optional<std::string> why_not_private(unsigned owner, unsigned mode, unsigned user);

/// Creates the folder and its parents if missing; `mode` is for the last one.
Result<void> make_folder(const std::filesystem::path& path, unsigned mode = 0755);

}  // namespace px::os
