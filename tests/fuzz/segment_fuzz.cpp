// Messages that name shared memory, pieces of arrays from other hosts, and what fills segments with
// them: nothing outside of the own segment is read or written.

#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "os/segments/fetched_piece.hpp"
#include "os/segments/segment_frames.hpp"
#include "os/segments/segment_inflow.hpp"
#include "os/segments/segment_piece.hpp"
#include "tests/fuzz/input.hpp"
#include "wire/error.hpp"

using namespace px;
using namespace px::os;

namespace {

constexpr std::size_t segment_bytes = 8192;

/// A folder with what may be mapped, a.b.1, and with what may not: a link, a pipe, a folder, a file
/// that others may read, and one that is no segment.
class Place {
 public:
  Place() {
    std::string made = "/dev/shm/px-fuzz-XXXXXX";
    check(::mkdtemp(made.data()) != nullptr);
    parent_ = made;
    folder = *SegmentFolder::create({parent_, {}});
    check(bool(folder->enter("a")));
    write("secret", 'S', 0600);
    write("a.b.1", 'x', 0600);
    write("a.b.2", 'S', 0644);
    const std::filesystem::path path = folder->name().folder;
    std::filesystem::create_symlink(path / "secret", path / "a.b.3");
    check(::mkfifo((path / "a.b.4").c_str(), 0600) == 0);
    std::filesystem::create_directory(path / "a.b.5");
  }
  ~Place() {
    folder.reset();
    std::filesystem::remove_all(parent_);
  }
  Place(Place&&) = delete;

  std::shared_ptr<SegmentFolder> folder;

 private:
  void write(const char* name, char letter, mode_t mode) const {
    const std::filesystem::path file = std::filesystem::path(folder->name().folder) / name;
    std::ofstream(file) << std::string(segment_bytes, letter);
    std::filesystem::permissions(file, std::filesystem::perms(mode));
  }

  std::filesystem::path parent_;
};

/// All that is found of a frame that names a place is x.
void map(std::vector<std::string> frames, std::vector<std::size_t> indexes,
         const std::shared_ptr<const SegmentFolder>& folder) {
  const std::size_t first_buffer = frames.empty() ? 0 : 1;
  const auto named = std::make_shared<TextFrames>(std::move(frames));
  const auto mapped = SegmentFrames::map(named, first_buffer, indexes, folder);
  if (!mapped) return;
  for (const std::size_t index : indexes) {
    const std::size_t at = first_buffer + index;
    if (named->at(at).size() > longest_segment_part) continue;
    const auto part = read_segment_part(named->at(at));
    check(part && part->name == "a.b.1" && part->length <= segment_bytes);
    const std::string_view bytes = (*mapped)->at(at);
    check(bytes.size() == part->length);
    check(std::all_of(bytes.begin(), bytes.end(), [](char each) { return each == 'x'; }));
  }
}

/// The file of a segment is never longer than its pieces say, and no other file is written.
void fill(SegmentInflow& inflow, const SegmentFolder& folder, const Json& content,
          std::string_view bytes) {
  const Result<SegmentPiece> piece = read_segment_piece(content);
  if (!piece) return;
  check(read_segment_piece(Json::parse(write_segment_piece(*piece))).has_value());
  if (piece->is_release) return inflow.release(piece->segment);
  if (!piece->has_bytes()) return;
  if (!inflow.take(*piece, bytes, Instant{})) return;
  const auto mapped = MappedSegment::map(folder, piece->segment);
  if (mapped) check(!(*mapped)->part(0, piece->size + 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Place place;
  SegmentInflow inflow{place.folder, "a", Instant{}};
  FuzzInput input{data, size};
  const Packer packer = input.packer();
  const std::string metadata(input.line());
  auto indexes = segment_indexes(packer, metadata);
  if (auto held = read_held(packer, metadata); held && packer == Packer::json) {
    const auto again = read_held(packer, with_held("{}", *held));
    check(again && again->name == held->name && again->buffers.size() == held->buffers.size());
  }
  std::vector<std::string> frames = input.lines();
  for (const std::string& line : frames) {
    if (const auto part = read_segment_part(line)) check(is_segment_name(part->name));
    const Json content = Json::parse(line, nullptr, false);
    if (!content.is_object()) continue;
    if (const auto piece = read_fetched_piece(content))
      check(read_fetched_piece(Json::parse(write_fetched_piece(*piece))).has_value());
    fill(inflow, *place.folder, content, line);
  }
  if (indexes.empty() && !frames.empty()) indexes.push_back(0);
  map(std::move(frames), std::move(indexes), place.folder);
  return 0;
}
