#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

// The folders and files of a checkpoint, as polyxeus/engine_calls/checkpoint.py has them. Errors of
// the kind `system` are those of the file system.

namespace px::cpp {

/// Makes the folder of a new checkpoint, and removes what killed ones have left.
/// result  {"folder": it, "previous": the name of the last complete checkpoint or null}
Result<Json> begin_checkpoint(const std::filesystem::path& path, const std::string& token);

/// Removes an unfinished checkpoint.
void abort_checkpoint(const std::filesystem::path& path, const std::string& token);

/// Gives a checkpoint its number, once its files are those that the manifest names.
/// keep    so many with the same label stay; 0: all.
/// result  {"name": its number as text, "removed": names of older ones}
Result<Json> commit_checkpoint(const std::filesystem::path& path, const std::string& token,
                               const std::string& manifest, int keep);

/// The last complete checkpoint, or the last one with this label.
/// path    that of all checkpoints, or of one.
/// result  {"folder": it, "manifest": what it says, as text}
Result<Json> find_checkpoint(const std::filesystem::path& path, const Json& label);

/// What the last checkpoint says of a rank; an empty list where there is nothing.
Json entries_of_rank(const std::filesystem::path& folder, std::size_t rank);

/// The checksum of what stands one behind the other, as the manifest spells it.
std::string checksum_of(const std::vector<std::string_view>& pieces);

/// Whether a file begins with the same bytes as what stands one behind the other: what has changed
/// mostly differs there, and needs no checksum to be known as changed. Compares 1 MiB at most.
bool begins_alike(const std::filesystem::path& path, const std::vector<std::string_view>& pieces);

/// Writes a new file, which is on disk afterwards; gives its checksum.
/// told  called with the number of bytes of each piece that was written.
Result<std::string> write_checked(const std::filesystem::path& path,
                                  const std::vector<std::string_view>& pieces,
                                  const std::function<void(std::size_t)>& told);

/// The bytes of a file of a checkpoint.
/// entry   what the manifest says of it.
/// errors  not_found; bad_input: it is not what was written.
Result<std::string> read_checked(const std::filesystem::path& folder, const Json& entry);

}  // namespace px::cpp
