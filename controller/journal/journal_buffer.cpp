#include "controller/journal/journal_buffer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "os/private_file.hpp"
#include "os/written_file.hpp"

namespace px::controller {
namespace {

constexpr std::size_t page = 4096;  // the head's; the ring follows
constexpr std::string_view magic_text = "pxjbuf1\n";
constexpr std::string_view name_start = "polyxeus-journal-";

/// Before the bytes of each entry.
struct EntryHead {
  std::uint64_t offset, size, segment;
};

Error memory_error(std::string_view what, const std::filesystem::path& path) {
  return {ErrorKind::system, std::string(what) + " " + path.string() + ": " + std::strerror(errno)};
}

/// The file of an earlier process, if it still is there.
os::Descriptor open_named(const std::filesystem::path& path) {
  os::Descriptor file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  struct stat status {};
  const bool is_ours = file.is_open() && ::fstat(file.value(), &status) == 0 &&
                       S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
  return is_ours ? std::move(file) : os::Descriptor{};
}

/// The name in name_file; empty: there is none.
std::filesystem::path named_by(const std::filesystem::path& name_file) {
  const Result<std::string> name = os::read_file(name_file, page);
  if (!name || std::filesystem::path(*name).filename().string().rfind(name_start, 0) != 0)
    return {};
  return *name;
}

}  // namespace

/// Places grow for ever; a byte lies at its place modulo the capacity.
struct JournalBuffer::Head {
  std::array<char, magic_text.size()> magic;
  std::uint64_t capacity;
  std::atomic<std::uint64_t> begin, end;  // nothing is in it unless begin < end
};

Result<std::unique_ptr<JournalBuffer>> JournalBuffer::open(const std::filesystem::path& name_file,
                                                           const std::filesystem::path& memory,
                                                           std::size_t capacity) {
  std::string path = named_by(name_file).string();
  os::Descriptor file = path.empty() ? os::Descriptor{} : open_named(path);
  const bool is_new = !file.is_open();
  if (is_new) {
    path = (memory / (std::string(name_start) + "XXXXXX")).string();
    file = os::Descriptor{::mkostemp(path.data(), O_CLOEXEC)};
    if (!file.is_open()) return memory_error("cannot make", path);
    if (auto written = os::write_file_atomically(name_file, path, 0600, os::Survives::process);
        !written)
      return ::unlink(path.c_str()), written.error();
  }
  // Reading an entry from the mapping cannot fail: its bytes were written before, and nothing ever
  // shortens the file.
  struct stat status {};
  if (!is_new && ::fstat(file.value(), &status) == 0 && status.st_size > off_t{page})
    capacity = static_cast<std::size_t>(status.st_size) - page;
  errno = ::posix_fallocate(file.value(), 0, page);
  const std::size_t mapped_bytes = page + capacity;
  void* const mapped =
      errno != 0 || ::ftruncate(file.value(), static_cast<off_t>(mapped_bytes)) != 0
          ? MAP_FAILED
          : ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.value(), 0);
  if (mapped == MAP_FAILED) return memory_error("cannot use", path);
  auto* head = static_cast<Head*>(mapped);
  const bool is_right = std::string_view(head->magic.data(), magic_text.size()) == magic_text &&
                        head->capacity == capacity && head->end - head->begin <= capacity;
  if (is_new || !is_right) {
    head->capacity = capacity;
    head->begin = head->end = 0;
    std::copy(magic_text.begin(), magic_text.end(), head->magic.begin());
  }
  return std::unique_ptr<JournalBuffer>(
      new JournalBuffer(name_file, path, std::move(file), head, capacity));
}

JournalBuffer::JournalBuffer(std::filesystem::path name_file, std::filesystem::path path,
                             os::Descriptor file, Head* head, std::size_t capacity)
    : name_file_(std::move(name_file)),
      path_(std::move(path)),
      file_(std::move(file)),
      head_(head),
      capacity_(capacity) {}

JournalBuffer::~JournalBuffer() {
  ::munmap(head_, page + capacity_);
}

bool JournalBuffer::write(std::uint64_t place, std::string_view bytes) {
  const std::size_t start = place % capacity_;
  const std::string_view first = bytes.substr(0, capacity_ - start);
  return os::write_at(file_.value(), page + start, first) &&
         os::write_at(file_.value(), page, bytes.substr(first.size()));
}

std::array<std::string_view, 2> JournalBuffer::read(std::uint64_t place, std::size_t size) const {
  const char* const ring = reinterpret_cast<const char*>(head_) + page;
  const std::size_t start = place % capacity_;
  const std::size_t first = std::min(size, capacity_ - start);
  return {std::string_view{ring + start, first}, std::string_view{ring, size - first}};
}

Result<JournalBuffer::BufferedWrite> JournalBuffer::push(SegmentNumber segment,
                                                         std::uint64_t offset,
                                                         std::string_view text) {
  // The end first: a process that dies in between leaves an empty one.
  if (head_->begin == head_->end) head_->end = 0, head_->begin = 0;
  const std::uint64_t place = head_->end;
  if (place + sizeof(EntryHead) + text.size() - head_->begin > capacity_)
    return Error{ErrorKind::overloaded, "the data that waits for the disk has filled its " +
                                            std::to_string(capacity_ >> 20) +
                                            " MiB of shared memory"};
  const EntryHead head{offset, text.size(), segment};
  std::string whole{reinterpret_cast<const char*>(&head), sizeof head};
  const bool is_short = text.size() <= page;  // one call in place of two
  if (is_short) whole += text;
  if (!write(place, whole) || (!is_short && !write(place + sizeof head, text)))
    return memory_error("cannot write", path_);
  head_->end = place + sizeof head + text.size();
  return BufferedWrite{segment, offset, text.size(), place};
}

std::vector<JournalBuffer::BufferedWrite> JournalBuffer::entries() const {
  std::vector<BufferedWrite> all;
  const std::uint64_t end = head_->end;
  for (std::uint64_t place = head_->begin; place + sizeof(EntryHead) <= end;) {
    const auto parts = read(place, sizeof(EntryHead));
    EntryHead head{};
    std::memcpy(&head, (std::string(parts[0]) += parts[1]).data(), sizeof head);
    if (head.size > end - place - sizeof head) break;
    all.push_back({static_cast<SegmentNumber>(head.segment), head.offset, head.size, place});
    place += sizeof head + head.size;
  }
  return all;
}

std::array<std::string_view, 2> JournalBuffer::text_of(const BufferedWrite& entry) const {
  return read(entry.place + sizeof(EntryHead), entry.size);
}

void JournalBuffer::pop(const BufferedWrite& oldest) {
  check(oldest.place == head_->begin);
  head_->begin = oldest.place + sizeof(EntryHead) + oldest.size;
}

void JournalBuffer::remove() {
  ::unlink(path_.c_str());
  ::unlink(name_file_.c_str());
}

void JournalBuffer::remove(const std::filesystem::path& name_file) {
  if (const auto path = named_by(name_file); !path.empty() && open_named(path).is_open())
    ::unlink(path.c_str());
  ::unlink(name_file.c_str());
}

}  // namespace px::controller
