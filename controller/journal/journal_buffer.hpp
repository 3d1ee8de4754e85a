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

/// Keeps bytes that a journal has still to write to its segments in a file of shared memory, which
/// outlives the process (not the host) and waits for no disk. First in, first out; a ring. The next
/// process finds what a killed one left there and brings it to the disk first: BufferedStorage does
/// that. Threads may call it one at a time.
class JournalBuffer {
 public:
  /// Bytes that are to be written there.
  struct BufferedWrite {
    SegmentNumber segment = 0;
    std::uint64_t offset = 0;  ///< Where in the segment.
    std::uint64_t size = 0;
    std::uint64_t place = 0;  ///< Where in the buffer.
  };

  /// A new one in this folder of shared memory, or the one that `name_file` names, with what is in
  /// it. name_file says where it is to the next process.
  /// capacity  of a new one, in bytes; shared memory is taken as it fills up, and kept.
  /// errors  system: names the path and the cause.
  static Result<std::unique_ptr<JournalBuffer>> open(const std::filesystem::path& name_file,
                                                     const std::filesystem::path& memory,
                                                     std::size_t capacity);
  ~JournalBuffer();
  JournalBuffer(JournalBuffer&&) = delete;

  /// Puts it behind all others. Where that fails nothing is changed.
  /// errors  overloaded: it is full; system: shared memory is.
  Result<BufferedWrite> push(SegmentNumber segment, std::uint64_t offset, std::string_view text);
  /// All that is in it, the oldest first.
  std::vector<BufferedWrite> entries() const;
  /// The bytes of an entry that is in it, in two parts as it may go around. They stay where they
  /// are until it is taken out.
  std::array<std::string_view, 2> text_of(const BufferedWrite& entry) const;
  /// The oldest one is where it belongs.  Precondition: there is one.
  void pop(const BufferedWrite& oldest);

  /// Removes the file and name_file. What is in it is lost.
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
