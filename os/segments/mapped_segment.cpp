#include "os/segments/mapped_segment.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "os/segments/segment.hpp"

namespace px::os {
namespace {

std::atomic<int> locks_held = 0;

/// All of this process, by the address of their ends.
struct Mapped {
  std::mutex mutex;
  std::map<const char*, const MappedSegment*> by_end;
};
Mapped& all_mapped() {
  static Mapped& mapped = *new Mapped;  // lives as long as the last array
  return mapped;
}

/// Of the running kernel: those for aarch64 have pages of 4, 16 or 64 KiB.
std::size_t kernel_page_bytes() {
#if defined(__x86_64__)
  return 4096;
#else
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
#endif
}

/// Whether no page of these was written to since it was mapped.
bool is_unwritten(std::string_view bytes) {
  constexpr std::uint64_t is_present = std::uint64_t{1} << 63, is_swapped = std::uint64_t{1} << 62,
                          is_of_file = std::uint64_t{1} << 61;
  const Descriptor pages{::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};
  const std::size_t kernel_page = kernel_page_bytes();
  std::vector<std::uint64_t> entries((bytes.size() + kernel_page - 1) / kernel_page);
  const auto size = static_cast<ssize_t>(entries.size() * sizeof entries[0]);
  const auto first =
      reinterpret_cast<std::uintptr_t>(bytes.data()) / kernel_page * sizeof entries[0];
  if (!pages.is_open() || ::pread(pages.value(), entries.data(), static_cast<std::size_t>(size),
                                  static_cast<off_t>(first)) != size)
    return false;
  return std::none_of(entries.begin(), entries.end(), [](std::uint64_t entry) {
    return (entry & is_swapped) || ((entry & is_present) && !(entry & is_of_file));
  });
}

/// A quarter of the descriptors that this process may have open.
int most_locks() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 64;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur / 4, 4096));
}

Error failure(const std::string& name, std::string_view why, ErrorKind kind) {
  return {kind, "the shared memory segment " + name + " " + std::string(why)};
}

Error gone(const std::string& name) {
  return failure(name,
                 "no longer exists: its sender has ended or does not wait for the answer",
                 ErrorKind::not_found);
}

std::string why_not_open(int error) {
  const std::string why = std::string("cannot be opened: ") + std::strerror(error);
  return error == EMFILE ? why + ": close files or clients, or raise the limit (ulimit -n)" : why;
}

/// Why the file is not that of a segment; null where it is.
const char* why_not_a_segment(const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return "is not a regular file";
  if (file.st_uid != ::geteuid()) return "belongs to another user";
  if ((file.st_mode & 077) != 0) return "is accessible to other users";
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<const MappedSegment>> MappedSegment::map(const SegmentFolder& folder,
                                                                const std::string& name) {
  if (!is_segment_name(name))
    return failure("with the name '" + name + "'", "has no name of a segment",
                   ErrorKind::bad_input);
  Descriptor file = folder.open_segment(name);
  if (!file.is_open() && errno == ENOENT) return gone(name);
  if (!file.is_open() && errno == ELOOP) return failure(name, "is a link", ErrorKind::bad_input);
  if (!file.is_open()) return failure(name, why_not_open(errno), ErrorKind::system);
  struct stat found{};
  if (::fstat(file.value(), &found) != 0)
    return failure(name, std::strerror(errno), ErrorKind::system);
  if (const char* const why = why_not_a_segment(found))
    return failure(name, why, ErrorKind::bad_input);
  // Its maker locks it alone and gives it another name before he writes it again.
  if (::flock(file.value(), LOCK_SH | LOCK_NB) != 0 || !folder.has_segment(name, found))
    return gone(name);
  const auto size = static_cast<std::size_t>(found.st_size);
  void* const memory = size == 0 ? nullptr
                                 : ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_NORESERVE, file.value(), 0);
  if (memory == MAP_FAILED)
    return failure(name, std::string("cannot be mapped: ") + std::strerror(errno),
                   ErrorKind::system);
  return std::shared_ptr<const MappedSegment>(
      new MappedSegment(std::string_view(static_cast<const char*>(memory), size), std::move(file),
                        std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino)));
}

std::map<std::string, std::uint64_t> MappedSegment::all() {
  Mapped& mapped = all_mapped();
  const std::lock_guard lock{mapped.mutex};
  std::map<std::string, std::uint64_t> bytes;
  for (const auto& [end, segment] : mapped.by_end)
    bytes[segment->identity_] = segment->bytes_.size();
  return bytes;
}

std::shared_ptr<const MappedSegment> MappedSegment::of(std::string_view bytes) {
  Mapped& mapped = all_mapped();
  const std::lock_guard lock{mapped.mutex};
  const auto found = mapped.by_end.upper_bound(bytes.data());
  if (found == mapped.by_end.end()) return nullptr;
  const std::string_view whole = found->second->bytes_;
  const bool is_within =
      bytes.data() >= whole.data() && bytes.data() + bytes.size() <= whole.data() + whole.size();
  return is_within ? found->second->weak_from_this().lock() : nullptr;
}

bool MappedSegment::map_again(std::string_view part, void* address) const {
  const auto offset = static_cast<std::size_t>(part.data() - bytes_.data());
  if (offset % page_bytes != 0 || !lock_.is_open() || !is_unwritten(part)) return false;
  return ::mmap(address, part.size(), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, lock_.value(),
                static_cast<off_t>(offset)) != MAP_FAILED;
}

MappedSegment::MappedSegment(std::string_view bytes, Descriptor lock, std::string identity)
    : bytes_(bytes), identity_(std::move(identity)), lock_(std::move(lock)) {
  if (!bytes_.empty()) {
    Mapped& mapped = all_mapped();
    const std::lock_guard guard{mapped.mutex};
    mapped.by_end[bytes_.data() + bytes_.size()] = this;
  }
  if (++locks_held <= most_locks()) return;
  // Who may not write it does not write it again.
  if (::fchmod(lock_.value(), 0400) != 0) return;
  lock_.close();
  --locks_held;
}

MappedSegment::~MappedSegment() {
  if (!bytes_.empty()) {
    Mapped& mapped = all_mapped();
    const std::lock_guard guard{mapped.mutex};
    mapped.by_end.erase(bytes_.data() + bytes_.size());
    ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  if (lock_.is_open()) --locks_held;
}

Result<std::string_view> MappedSegment::part(std::uint64_t offset, std::uint64_t length) const {
  if (offset > bytes_.size() || length > bytes_.size() - offset)
    return Error{ErrorKind::bad_input,
                 "a message names bytes that lie outside of the shared memory "
                 "segment: " +
                     std::to_string(length) + " bytes from " + std::to_string(offset) + " on of " +
                     std::to_string(bytes_.size())};
  return bytes_.substr(offset, length);
}

}  // namespace px::os
