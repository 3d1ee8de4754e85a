#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "os/descriptor.hpp"
#include "os/segments/segment_folder.hpp"
#include "wire/error.hpp"

namespace px::os {

/// A segment in the memory of this process: private and writable; pages are copied when they are
/// written. As long as it exists, the process that has made the segment does not reuse it.
class MappedSegment : public std::enable_shared_from_this<MappedSegment> {
 public:
  /// errors  not_found: the segment no longer exists; bad_input: the name or the file is not that
  ///         of a segment of this user; system: it cannot be mapped.
  static Result<std::shared_ptr<const MappedSegment>> map(const SegmentFolder& folder,
                                                          const std::string& name);
  /// The mapped segment of this process that contains these bytes; null if there is none.
  static std::shared_ptr<const MappedSegment> of(std::string_view bytes);
  /// The sizes of all mapped segments of this process, by their identifiers on this host:
  /// "<device>:<inode>".
  static std::map<std::string, std::uint64_t> all();
  ~MappedSegment();
  MappedSegment(MappedSegment&&) = delete;

  /// errors  bad_input: it is not within the segment.
  Result<std::string_view> part(std::uint64_t offset, std::uint64_t length) const;

  /// Maps a part of it again, at an address of a mapping of this process that is as long and no
  /// longer needed. False if that is impossible: the part does not begin at a page boundary, or was
  /// written to here.
  bool map_again(std::string_view part, void* address) const;

 private:
  MappedSegment(std::string_view bytes, Descriptor lock, std::string identity);

  std::string_view bytes_;
  const std::string identity_;
  Descriptor lock_;  // none: the file is marked as never to be reused
};

}  // namespace px::os
