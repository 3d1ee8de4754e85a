#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "controller/journal/journal_index.hpp"
#include "os/descriptor.hpp"
#include "wire/error.hpp"

namespace px::controller {

/// Keeps the bytes that a journal must still write to its segments in a file of shared memory,
/// which outlives the process (not the host) and never waits for a disk. First in, first out; a
/// ring. The next process finds the bytes that a killed one left in it and writes them to the disk
/// first: BufferedStorage does that. Only one thread at a time may call it.
class JournalBuffer {
 public:
  /// Bytes that wait to be written.
  struct BufferedWrite {
    SegmentNumber segment = 0;
    std::uint64_t offset = 0;  ///< Position in the segment.
    std::uint64_t size = 0;
    std::uint64_t place = 0;  ///< Position in the buffer.
  };

  /// A new buffer in this folder of shared memory, or the one that `name_file` names, with its
  /// content. From name_file the next process learns its path.
  /// capacity  of a new one, in bytes; shared memory is allocated as it fills up, and kept.
  /// errors  system: the message names the path and the cause.
  static Result<std::unique_ptr<JournalBuffer>> open(const std::filesystem::path& name_file,
                                                     const std::filesystem::path& memory,
                                                     std::size_t capacity);
  ~JournalBuffer();
  JournalBuffer(JournalBuffer&&) = delete;

  /// Appends an entry. If that fails nothing is changed.
  /// errors  overloaded: the buffer is full; system: shared memory is full.
  Result<BufferedWrite> push(SegmentNumber segment, std::uint64_t offset, std::string_view text);
  /// All entries, the oldest first.
  std::vector<BufferedWrite> entries() const;
  /// The bytes of an entry, in two parts because it may wrap around. They stay valid until the
  /// entry is removed.
  std::array<std::string_view, 2> text_of(const BufferedWrite& entry) const;
  /// The oldest entry was written to its segment.  Precondition: there is one.
  void pop(const BufferedWrite& oldest);

  /// Removes the file and name_file. Its entries are lost.
  void remove();
  /// Removes the files of a buffer that no process has open.
  static void remove(const std::filesystem::path& name_file);

 private:
  struct Head;
  JournalBuffer(std::filesystem::path name_file, std::filesystem::path path, os::Descriptor file,
                Head* head, std::size_t capacity);
  bool write(std::uint64_t place, std::string_view bytes);
  std::array<std::string_view, 2> read(std::uint64_t place, std::size_t size) const;

  const std::filesystem::path name_file_, path_;
  const os::Descriptor file_;
  Head* const head_;  // the mapped file: its first page, which the ring follows
  const std::size_t capacity_;
};

}  // namespace px::controller
