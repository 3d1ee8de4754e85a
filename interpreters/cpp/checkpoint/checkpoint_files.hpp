#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

// The folders and files of a checkpoint, in the form of polyxeus/engine_calls/checkpoint.py. Errors
// of the kind `system` are those of the file system.

namespace px::cpp {

/// Makes the folder of a new checkpoint, and removes the folders that killed ones have left.
/// result  {"folder": its path, "previous": the name of the last complete checkpoint or null}
Result<Json> begin_checkpoint(const std::filesystem::path& path, const std::string& token);

/// Removes an unfinished checkpoint.
void abort_checkpoint(const std::filesystem::path& path, const std::string& token);

/// Gives a checkpoint its number, once its files match the manifest.
/// keep    the number with the same label to keep; 0: all.
/// result  {"name": its number as text, "removed": names of older ones}
Result<Json> commit_checkpoint(const std::filesystem::path& path, const std::string& token,
                               const std::string& manifest, int keep);

/// The last complete checkpoint, or the last one with this label.
/// path    of all checkpoints, or of one.
/// result  {"folder": its path, "manifest": its text}
Result<Json> find_checkpoint(const std::filesystem::path& path, const Json& label);

/// The entries of a rank in the last checkpoint; an empty list if there are none.
Json entries_of_rank(const std::filesystem::path& folder, std::size_t rank);

/// The checksum of the joined pieces, in the form of the manifest.
std::string checksum_of(const std::vector<std::string_view>& pieces);

/// Whether a file begins with the same bytes as the joined pieces: changed data usually differs at
/// the beginning, so that no checksum is needed. Compares at most 1 MiB.
bool begins_alike(const std::filesystem::path& path, const std::vector<std::string_view>& pieces);

/// Writes a new file, which is on disk afterwards; returns its checksum.
/// told  called with the number of bytes of each piece that was written.
Result<std::string> write_checked(const std::filesystem::path& path,
                                  const std::vector<std::string_view>& pieces,
                                  const std::function<void(std::size_t)>& told);

/// The bytes of a file of a checkpoint.
/// entry   its entry in the manifest.
/// errors  not_found; bad_input: its content was changed.
Result<std::string> read_checked(const std::filesystem::path& folder, const Json& entry);

}  // namespace px::cpp
