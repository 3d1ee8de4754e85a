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

/// A segment in the memory of this process: private and writable, pages are copied when they are
/// written. As long as it lives, whoever has made the segment does not write it anew.
class MappedSegment : public std::enable_shared_from_this<MappedSegment> {
 public:
  /// errors  not_found: there is no such segment any more; bad_input: the name or the file is not
  ///         that of a segment of this user; system: it cannot be mapped.
  static Result<std::shared_ptr<const MappedSegment>> map(const SegmentFolder& folder,
                                                          const std::string& name);
  /// The one of this process in which these bytes lie; null where there is none.
  static std::shared_ptr<const MappedSegment> of(std::string_view bytes);
  /// The bytes of those of this process, by what names each on this host: "<device>:<inode>".
  static std::map<std::string, std::uint64_t> all();
  ~MappedSegment();
  MappedSegment(MappedSegment&&) = delete;

  /// errors  bad_input: it does not lie within the segment.
  Result<std::string_view> part(std::uint64_t offset, std::uint64_t length) const;

  /// Maps a part of it once more, at an address at which this process has mapped something as long
  /// that it does not need. False where that cannot be: the part does not begin at a page, or was
  /// written to here.
  bool map_again(std::string_view part, void* address) const;

 private:
  MappedSegment(std::string_view bytes, Descriptor lock, std::string identity);

  std::string_view bytes_;
  const std::string identity_;
  Descriptor lock_;  // none: the file is marked as never to be written again
};

}  // namespace px::os
