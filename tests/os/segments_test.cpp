#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "os/host.hpp"
#include "os/segments/joined_memory.hpp"
#include "os/segments/segment_frames.hpp"
#include "os/segments/segment_space.hpp"
#include "os/segments/segment_store.hpp"
#include "os/written_file.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

constexpr std::size_t large = least_segment_bytes;

std::string bytes_of(char letter, std::size_t size = large) {
  return std::string(size, letter);
}

class Segments : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = *SegmentFolder::create({parent_.path(), disk_parent_.path()});
    ASSERT_TRUE(folder_->enter("sender"));
    store_ = SegmentStore::make(folder_, "sender");
  }
  std::filesystem::path path() const { return folder_->name().folder; }
  /// The only segment that a message names.
  static SegmentPart part_of(const PlacedBuffers& placed, std::size_t buffer = 0) {
    return *read_segment_part(placed.buffers.at(buffer).bytes);
  }
  std::vector<std::string> segments() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      if (is_segment_name(entry.path().filename().string()))
        names.push_back(entry.path().filename().string());
    return names;
  }
  Result<std::shared_ptr<const MappedSegment>> map(const std::string& name) const {
    return MappedSegment::map(*folder_, name);
  }
  /// What a receiver makes of a message with such a frame.
  Result<std::string> receive(std::string frame) const {
    const auto frames = std::make_shared<TextFrames>(std::vector<std::string>{std::move(frame)});
    const auto mapped = SegmentFrames::map(frames, 0, {0}, folder_);
    if (!mapped) return mapped.error();
    return std::string((*mapped)->at(0));
  }
  void write_file(const std::string& name, std::size_t size, mode_t mode = 0600) const {
    std::ofstream(path() / name) << bytes_of('x', size);
    ASSERT_EQ(::chmod((path() / name).c_str(), mode), 0);
  }

  TemporaryFolder parent_{"/dev/shm"}, disk_parent_;
  std::shared_ptr<SegmentFolder> folder_;
  std::shared_ptr<SegmentStore> store_;
};

TEST_F(Segments, LargeBuffersTravelAsTheirPlaceAndSmallOnesAsTheyAre) {
  const auto placed = store_->place(
      {owned_bytes("small"), owned_bytes(bytes_of('a')), owned_bytes(bytes_of('b', large + 1))});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->indexes, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(placed->buffers.at(0).bytes, "small");
  EXPECT_EQ(segments().size(), 1u);
  std::vector<std::string> frames;
  for (const SharedBytes& buffer : placed->buffers) frames.emplace_back(buffer.bytes);
  const auto received =
      SegmentFrames::map(std::make_shared<TextFrames>(frames), 0, placed->indexes, folder_);
  ASSERT_TRUE(received);
  EXPECT_EQ((*received)->at(0), "small");
  EXPECT_EQ((*received)->at(1), bytes_of('a'));
  EXPECT_EQ((*received)->at(2), bytes_of('b', large + 1));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*received)->at(2).data()) % 4096, 0u);
}

TEST_F(Segments, ACopiedMessageKeepsNoSegmentAndKnowsWhatItCameAs) {
  auto placed = store_->place({owned_bytes("small"), owned_bytes(bytes_of('a'))});
  std::vector<std::string> texts;
  for (const SharedBytes& buffer : placed->buffers) texts.emplace_back(buffer.bytes);
  const auto named = std::make_shared<TextFrames>(texts);
  auto mapped = SegmentFrames::map(named, 0, placed->indexes, folder_);
  ASSERT_TRUE(mapped);
  EXPECT_EQ((*mapped)->segment_bytes(), large);
  EXPECT_FALSE((*mapped)->is_copied());
  const auto copied = (*mapped)->copied();
  mapped->reset();
  std::filesystem::remove(path() / segments().at(0));
  EXPECT_TRUE(MappedSegment::all().empty());
  EXPECT_TRUE(copied->is_copied());
  EXPECT_EQ(copied->at(0), "small");
  EXPECT_EQ(copied->at(1), bytes_of('a'));
  EXPECT_EQ(copied->segment_bytes(), large);
  EXPECT_EQ(copied->named(), named);
  EXPECT_EQ(copied->names(), std::vector<std::string>{part_of(*placed, 1).name});
}

TEST_F(Segments, SmallBuffersNeedNone) {
  EXPECT_FALSE(store_->place({owned_bytes(bytes_of('a', large - 1))}));
  EXPECT_TRUE(segments().empty());
}

TEST_F(Segments, WhatOneReceiverWritesNobodyElseSees) {
  const auto placed = store_->place({owned_bytes(bytes_of('a'))});
  const auto one = map(part_of(*placed).name), other = map(part_of(*placed).name);
  const_cast<char*>((*one)->part(0, large)->data())[5] = 'x';
  EXPECT_EQ((*one)->part(5, 1)->front(), 'x');
  EXPECT_EQ((*other)->part(5, 1)->front(), 'a');
  EXPECT_EQ((*map(part_of(*placed).name))->part(5, 1)->front(), 'a');
}

TEST_F(Segments, OneIsWrittenAnewWhenEverybodyHasLetItGo) {
  std::string first;
  {
    const auto placed = store_->place({owned_bytes(bytes_of('a'))});
    first = part_of(*placed).name;
  }
  const auto inode = [&] {
    struct stat found{};
    EXPECT_EQ(::stat((path() / segments().at(0)).c_str(), &found), 0);
    return found.st_ino;
  };
  const auto before = inode();
  const auto second = store_->place({owned_bytes(bytes_of('b'))});
  EXPECT_EQ(segments().size(), 1u);
  EXPECT_EQ(inode(), before);
  EXPECT_EQ(*(*map(part_of(*second).name))->part(0, large), bytes_of('b'));
  // A message that was late names the old bytes, and must not get the new ones.
  EXPECT_EQ(map(first).error().kind, ErrorKind::not_found);
}

TEST_F(Segments, OneThatIsWrittenAgainAndAgainHasTheBytesOfEachTime) {
  constexpr std::size_t larger = 10 * large;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    std::string bytes = bytes_of(letter, larger + 1);
    bytes.front() = bytes.back() = bytes[larger / 2] = '!';
    const auto placed = store_->place({owned_bytes(bytes), owned_bytes(bytes_of(letter))});
    EXPECT_EQ(segments().size(), 1u);
    EXPECT_EQ(receive(std::string(placed->buffers.at(0).bytes)).value(), bytes);
    EXPECT_EQ(receive(std::string(placed->buffers.at(1).bytes)).value(), bytes_of(letter));
  }
}

TEST_F(Segments, OneThatLacksPagesIsNotWrittenByItsMapping) {
  const Descriptor file{::open((path() / "a.b.1").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  ASSERT_TRUE(write_at(file.value(), 0, bytes_of('a')));
  EXPECT_TRUE(WrittenSegment(file.value(), large).is_mapped());
  EXPECT_FALSE(WrittenSegment(file.value(), large + page_bytes).is_mapped());
  constexpr int makes_hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  ASSERT_EQ(::fallocate(file.value(), makes_hole, 0, page_bytes), 0);
  EXPECT_FALSE(WrittenSegment(file.value(), large).is_mapped());
}

TEST_F(Segments, OneThatAReceiverHasIsNotWrittenAnew) {
  std::shared_ptr<const MappedSegment> receiver;
  {
    const auto placed = store_->place({owned_bytes(bytes_of('a'))});
    receiver = *map(part_of(*placed).name);
  }
  const auto second = store_->place({owned_bytes(bytes_of('b'))});
  EXPECT_EQ(*receiver->part(0, large), bytes_of('a'));
  EXPECT_EQ(segments().size(), 2u);
}

TEST_F(Segments, OneThatIsNotAnsweredIsNotWrittenAnew) {
  const auto first = store_->place({owned_bytes(bytes_of('a'))});
  const auto second = store_->place({owned_bytes(bytes_of('b'))});
  EXPECT_EQ(*(*map(part_of(*first).name))->part(0, large), bytes_of('a'));
}

TEST_F(Segments, AReceiverWithFewDescriptorsLeftKeepsItsBytes) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{256, before.rlim_max};  // receivers keep a quarter of them at most
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<std::shared_ptr<const MappedSegment>> receivers;
  std::string name;
  {
    const auto placed = store_->place({owned_bytes(bytes_of('a'))});
    name = part_of(*placed).name;
    for (int i = 0; i < 65; ++i) receivers.push_back(*map(name));
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  receivers.erase(receivers.begin(), receivers.begin() + 64);
  const auto second = store_->place({owned_bytes(bytes_of('b'))});
  EXPECT_EQ(*receivers.at(0)->part(0, large), bytes_of('a'));
  EXPECT_EQ(*(*map(part_of(*second).name))->part(0, large), bytes_of('b'));
}

TEST_F(Segments, AReceiverWithoutADescriptorSaysWhatToDo) {
  write_file("a.b.1", 100);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto got = map("a.b.1");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().what,
            "the shared memory segment a.b.1 cannot be opened: Too many open files: close files or "
            "clients, or raise the limit (ulimit -n)");
}

TEST_F(Segments, OneForASingleReceiverBearsItsName) {
  const auto placed = store_->place_for("receiver", {owned_bytes(bytes_of('a'))});
  const std::string name = part_of(*placed).name;
  EXPECT_EQ(owner_of_segment(name), "receiver");
  const auto mapped = map(name);
  folder_->remove(name);
  EXPECT_EQ(map(name).error().kind, ErrorKind::not_found);
  EXPECT_EQ(*(*mapped)->part(0, large), bytes_of('a'));
  store_.reset();
  EXPECT_TRUE(segments().empty());
  EXPECT_EQ(*(*mapped)->part(0, large), bytes_of('a'));
}

TEST_F(Segments, OneForASingleReceiverIsWrittenAnewWhenHeAndAllOthersHaveLetItGo) {
  const auto place = [this](char letter) {
    return part_of(*store_->place_for("receiver", {owned_bytes(bytes_of(letter))})).name;
  };
  const auto inode = [this](const std::string& name) {
    struct stat found{};
    EXPECT_EQ(::stat((path() / name).c_str(), &found), 0);
    return found.st_ino;
  };
  const std::string first = place('a');
  const auto used = inode(first);
  const std::string on_its_way = place('b');  // the first one is not mapped yet
  EXPECT_NE(inode(on_its_way), used);
  {
    const auto receiver = map(first), other = map(first);
    folder_->remove(first);
    EXPECT_NE(inode(place('c')), used);
    EXPECT_EQ(*(*receiver)->part(0, large), bytes_of('a'));
  }
  const std::string again = place('d');
  EXPECT_EQ(inode(again), used);
  EXPECT_EQ(owner_of_segment(again), "receiver");
  EXPECT_EQ(map(first).error().kind, ErrorKind::not_found);
  EXPECT_EQ(*(*map(again))->part(0, large), bytes_of('d'));
  EXPECT_EQ(*(*map(on_its_way))->part(0, large), bytes_of('b'));
}

TEST_F(Segments, OneForASingleReceiverIsAsYoungAsItsBytes) {
  const auto place = [this] {
    return part_of(*store_->place_for("receiver", {owned_bytes(bytes_of('a'))})).name;
  };
  const std::string first = place();
  const timespec times[] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (path() / first).c_str(), times, 0), 0);
  folder_->remove(first);
  const std::string again = place();
  folder_->remove_left(std::chrono::minutes(1));  // nobody of that name shares memory
  EXPECT_TRUE(map(again));
}

TEST_F(Segments, AMessageKnowsWhetherItsReceiverHasTakenThem) {
  const auto placed = store_->place_for("receiver", {owned_bytes(bytes_of('a'))});
  const auto named = std::make_shared<TextFrames>(
      std::vector<std::string>{std::string(placed->buffers.at(0).bytes)});
  const auto mapped = *SegmentFrames::map(named, 0, {0}, folder_);
  EXPECT_EQ(mapped->lent_bytes(), large);
  EXPECT_FALSE(mapped->is_taken());
  folder_->remove(part_of(*placed).name);
  EXPECT_TRUE(mapped->is_taken());
  EXPECT_EQ(mapped->copied()->lent_bytes(), 0u);
}

TEST_F(Segments, WhatWasNotUsedForAWhileIsRemoved) {
  store_->place({owned_bytes(bytes_of('a'))});
  EXPECT_EQ(segments().size(), 1u);
  const auto due = store_->next_deadline();
  ASSERT_TRUE(due);
  store_->trim(*due - std::chrono::milliseconds(1));
  EXPECT_EQ(segments().size(), 1u);
  store_->trim(*due);
  EXPECT_TRUE(segments().empty());
  EXPECT_FALSE(store_->next_deadline());
}

// ---------------------------------------------------------------- joined

class JoinedMemory : public Segments {
 protected:
  /// A part as a receiver has it.
  std::string_view receive(char letter, std::size_t size) {
    const auto placed = store_->place_for("receiver", {owned_bytes(bytes_of(letter, size))});
    received_.push_back(*map(part_of(*placed).name));
    return *received_.back()->part(0, size);
  }
  std::vector<std::shared_ptr<const MappedSegment>> received_;
};

TEST_F(JoinedMemory, PartsLieOneBehindTheOther) {
  const std::string_view first = receive('a', large), second = receive('b', 2 * large),
                         third = receive('c', large + 7);
  const auto joined = join_mapped({first, second, third});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->bytes, bytes_of('a') + bytes_of('b', 2 * large) + bytes_of('c', large + 7));
  const_cast<char*>(joined->bytes.data())[0] = 'x';
  EXPECT_EQ(first.front(), 'a');
  received_.clear();
  EXPECT_EQ(joined->bytes.back(), 'c');
}

TEST_F(JoinedMemory, PartsThatDoNotEndWithAPageAreNotJoinedSo) {
  const std::string_view first = receive('a', large + 8), second = receive('b', large);
  EXPECT_FALSE(join_mapped({first, second}));
  EXPECT_TRUE(join_mapped({second, first}));
}

TEST_F(JoinedMemory, PartsThatWereWrittenToAreNotJoinedSo) {
  const std::string_view first = receive('a', large), second = receive('b', large);
  EXPECT_TRUE(join_mapped({first, second}));
  const_cast<char*>(second.data())[large / 2] = 'x';
  EXPECT_FALSE(join_mapped({first, second}));
}

TEST_F(JoinedMemory, BytesElsewhereAreNotJoinedSo) {
  const std::string elsewhere = bytes_of('a');
  EXPECT_FALSE(join_mapped({elsewhere}));
  EXPECT_FALSE(join_mapped({}));
  EXPECT_FALSE(join_mapped({std::string_view()}));
  const std::string_view part = receive('b', large);
  EXPECT_FALSE(join_mapped({part, elsewhere}));
  EXPECT_FALSE(join_mapped({part.substr(1)}));
}

// ---------------------------------------------------------------- hostile messages

TEST_F(Segments, NothingOutsideOfOneIsRead) {
  const auto placed = store_->place({owned_bytes(bytes_of('a'))});
  const std::string name = part_of(*placed).name;
  const std::uint64_t most = ~std::uint64_t{0};
  const std::pair<std::uint64_t, std::uint64_t> outside[] = {{0, large + 1},
                                                             {1, large},
                                                             {large, 1},
                                                             {large + 1, 0},
                                                             {most, 1},
                                                             {1, most},
                                                             {most, most},
                                                             {most - large, large + 2},
                                                             {large / 2, most - large / 2 + 1}};
  for (const auto& [offset, length] : outside) {
    const auto got = receive(write_segment_part({name, offset, length}));
    ASSERT_FALSE(got) << offset << " " << length;
    EXPECT_EQ(got.error().kind, ErrorKind::bad_input);
    EXPECT_NE(got.error().what.find("outside"), std::string::npos);
  }
  EXPECT_EQ(receive(write_segment_part({name, large, 0})).value(), "");
  EXPECT_EQ(receive(write_segment_part({name, large - 2, 2})).value(), "aa");
}

TEST_F(Segments, WhatIsNoFileOfASegmentIsNotMapped) {
  write_file("secret", 100);
  std::filesystem::create_symlink(path() / "secret", path() / "a.b.1");
  ASSERT_EQ(::mkfifo((path() / "a.b.2").c_str(), 0600), 0);
  std::filesystem::create_directory(path() / "a.b.3");
  write_file("a.b.4", 100, 0640);
  write_file("a.b.5", 100, 0606);
  for (const char* name : {"a.b.1", "a.b.2", "a.b.3", "a.b.4", "a.b.5", "secret", "../secret"}) {
    const auto got = map(name);
    ASSERT_FALSE(got) << name;
    EXPECT_EQ(got.error().kind, ErrorKind::bad_input) << name;
  }
  if (::geteuid() == 0) {  // nobody else can give files away
    write_file("a.b.6", 100);
    ASSERT_EQ(::chown((path() / "a.b.6").c_str(), 12345, 12345), 0);
    EXPECT_EQ(map("a.b.6").error().what, "the shared memory segment a.b.6 belongs to another user");
  }
  EXPECT_EQ(map("a.b.7").error().kind, ErrorKind::not_found);
}

TEST_F(Segments, AnEmptyFileHasNoBytes) {
  write_file("a.b.1", 0);
  EXPECT_EQ(receive("px-segment a.b.1 0 0").value(), "");
  EXPECT_FALSE(receive("px-segment a.b.1 0 1"));
}

TEST_F(Segments, AFrameThatIsNoPlaceIsRefused) {
  EXPECT_EQ(receive("px-segment ../x.b.1 0 1").error().kind, ErrorKind::bad_input);
  EXPECT_EQ(receive("anything").error().kind, ErrorKind::bad_input);
  EXPECT_EQ(receive("").error().kind, ErrorKind::bad_input);
}

TEST_F(Segments, AFrameThatIsTooLongForAPlaceIsTheBufferItself) {
  EXPECT_EQ(receive(bytes_of('a', 300)).value(), bytes_of('a', 300));
}

TEST_F(Segments, AMessageThatNamesABufferThatItDoesNotHaveIsRefused) {
  const auto frames = std::make_shared<TextFrames>(std::vector<std::string>{"head", "buffer"});
  for (const std::size_t index : {std::size_t{1}, std::size_t{7}, ~std::size_t{0}})
    EXPECT_FALSE(SegmentFrames::map(frames, 1, {index}, folder_));
}

TEST_F(Segments, AProcessWithoutSharedMemorySaysSo) {
  const auto frames =
      std::make_shared<TextFrames>(std::vector<std::string>{"px-segment a.b.1 0 1"});
  EXPECT_EQ(SegmentFrames::map(frames, 0, {0}, nullptr).error().kind, ErrorKind::unsupported);
}

// ---------------------------------------------------------------- room

TEST_F(Segments, LeaveAQuarterOfTheFileSystemToOthers) {
  struct statvfs system{};
  ASSERT_EQ(::fstatvfs(folder_->descriptor(), &system), 0);
  const std::uint64_t free = static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize;
  for (const std::uint64_t bytes : {std::uint64_t{1} << 60, free}) {
    const auto why = why_no_room(folder_->descriptor(), bytes);
    ASSERT_TRUE(why);
    EXPECT_NE(why->find("a quarter of it is left"), std::string::npos);
  }
  EXPECT_FALSE(why_no_room(folder_->descriptor(), 1));
}

TEST_F(Segments, AreNotLargerThanFilesOfThisProcessMayBe) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{large - 1, large - 1};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool is_refused = !store_->place({owned_bytes(bytes_of('a'))});
    const auto complaint = store_->take_complaint();
    const bool is_said = complaint && complaint->find("ulimit -f") != std::string::npos;
    ::_exit(is_refused && is_said && !store_->take_complaint() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(segments().empty());
}

// ---------------------------------------------------------------- the disk

/// What shared memory has no room for: as much as is free there.
std::uint64_t too_much_for_memory(const SegmentFolder& folder) {
  struct statvfs system{};
  EXPECT_EQ(::fstatvfs(folder.descriptor(), &system), 0);
  return static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize;
}

TEST_F(Segments, WhatMemoryHasNoRoomForLiesOnTheDisk) {
  const std::uint64_t bytes = too_much_for_memory(*folder_);
  const auto made = folder_->make("sender.sender.1", bytes);
  ASSERT_EQ(bool(made), has_disk_room(folder_->disk()->descriptor(), bytes));
  if (!made) {
    EXPECT_EQ(made.error().kind, ErrorKind::overloaded);
    return;
  }
  EXPECT_NE(made->why_on_disk.find("a quarter of it is left"), std::string::npos);
  EXPECT_TRUE(folder_->is_on_disk("sender.sender.1"));
  EXPECT_TRUE(segments().empty());
}

TEST_F(Segments, WhatMemoryHasRoomForDoesNotLieOnTheDisk) {
  const auto made = folder_->make("sender.sender.1", 1);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->why_on_disk, "");
  EXPECT_FALSE(folder_->is_on_disk("sender.sender.1"));
}

TEST_F(Segments, ADiskThatNotAllWhoShareMemorySeeIsNotUsed) {
  std::filesystem::remove(path() / "disk");
  const auto stranger = *SegmentFolder::open(folder_->name());
  EXPECT_EQ(stranger->disk(), nullptr);
  ASSERT_TRUE(stranger->enter("stranger"));
  const auto made = folder_->make("sender.sender.1", too_much_for_memory(*folder_));
  EXPECT_EQ(made.error().kind, ErrorKind::overloaded);
}

TEST_F(Segments, ADiskHasRoomForHalfOfWhatIsFree) {
  const int folder = folder_->disk()->descriptor();
  EXPECT_TRUE(has_disk_room(folder, 1));
  EXPECT_FALSE(has_disk_room(folder, std::uint64_t{1} << 60));
}

TEST_F(Segments, OnTheDiskTheyAreMappedRenamedAndRemovedAsInMemory) {
  const std::filesystem::path disk = folder_->disk()->name().folder;
  const auto receiver = *SegmentFolder::open(folder_->name());
  ASSERT_TRUE(receiver->enter("receiver"));
  write_file("memory.sender.1", 3);
  std::filesystem::copy_file(path() / "memory.sender.1", disk / "sender.sender.1");
  ASSERT_EQ(::chmod((disk / "sender.sender.1").c_str(), 0600), 0);
  ASSERT_TRUE(folder_->rename("sender.sender.1", "sender.sender.2"));
  EXPECT_FALSE(MappedSegment::map(*receiver, "sender.sender.1"));
  const auto mapped = MappedSegment::map(*receiver, "sender.sender.2");
  ASSERT_TRUE(mapped);
  EXPECT_EQ(*(*mapped)->part(0, 3), "xxx");
  receiver->remove("sender.sender.2");
  EXPECT_FALSE(folder_->is_on_disk("sender.sender.2"));
}

TEST_F(Segments, OnTheDiskAKilledProcessLeavesNothing) {
  const std::filesystem::path disk = folder_->disk()->name().folder;
  std::ofstream(disk / "killed.killed.1") << "left";
  std::ofstream(disk / "sender.sender.1") << "in use";
  folder_->remove_left(Duration(0));
  EXPECT_FALSE(folder_->is_on_disk("killed.killed.1"));
  EXPECT_TRUE(folder_->is_on_disk("sender.sender.1"));
}

TEST_F(Segments, TheFolderOnTheDiskIsRemovedWithTheOther) {
  const std::filesystem::path disk = folder_->disk()->name().folder;
  std::ofstream(disk / "sender.sender.1") << "left";
  folder_->remove_all();
  EXPECT_FALSE(std::filesystem::exists(disk));
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(Segments, TheFolderOnTheDiskIsTheSameForTheNextController) {
  const auto again = SegmentFolder::restore(path());
  ASSERT_TRUE(again);
  ASSERT_NE((*again)->disk(), nullptr);
  EXPECT_EQ((*again)->disk()->name().folder, folder_->disk()->name().folder);
}

TEST_F(Segments, AFolderOnTheDiskThatIsGoneIsMadeAnew) {
  const ScopedVariable temporary("TMPDIR", disk_parent_.path().c_str());
  const std::string gone = folder_->disk()->name().folder;
  std::filesystem::remove_all(gone);
  const auto again = SegmentFolder::restore(path());
  ASSERT_TRUE(again);
  ASSERT_NE((*again)->disk(), nullptr);
  EXPECT_NE((*again)->disk()->name().folder, gone);
}

TEST_F(Segments, TheFolderOnTheDiskOfAClusterOfWhichNobodyLivesIsRemovedByTheNextOne) {
  const std::string boot = boot_id().substr(0, 6);
  const auto abandoned = disk_parent_.path() / ("polyxeus-arrays-" + boot + "-gone");
  const auto of_another_host = disk_parent_.path() / "polyxeus-arrays-zzzzzz-gone";
  for (const auto& folder : {abandoned, of_another_host}) {
    std::filesystem::create_directory(folder);
    ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
  }
  const TemporaryFolder parent{"/dev/shm"};
  ASSERT_TRUE(SegmentFolder::create({parent.path(), disk_parent_.path()}));
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_TRUE(std::filesystem::exists(of_another_host));
}

// ---------------------------------------------------------------- the folder

TEST_F(Segments, TheFolderIsOpenedByThoseWhoSeeTheSameOne) {
  EXPECT_TRUE(SegmentFolder::open(folder_->name()));
  SharedMemory other = folder_->name();
  other.identity += "1";
  EXPECT_EQ(SegmentFolder::open(other).error().kind, ErrorKind::not_found);
  EXPECT_FALSE(SegmentFolder::open({(parent_.path() / "none").string(), "x"}));
}

TEST_F(Segments, AFolderThatOthersMayEnterIsNotUsed) {
  ASSERT_EQ(::chmod(path().c_str(), 0750), 0);
  EXPECT_FALSE(SegmentFolder::open(folder_->name()));
}

TEST_F(Segments, ALinkInTheFoldersPlaceIsNotUsed) {
  const auto link = parent_.path() / "link";
  std::filesystem::create_symlink(path(), link);
  EXPECT_FALSE(SegmentFolder::open({link.string(), folder_->name().identity}));
}

TEST_F(Segments, WhoSharesMemoryIsKnownByName) {
  EXPECT_TRUE(folder_->has("sender"));
  EXPECT_FALSE(folder_->has("stranger"));
  EXPECT_FALSE(folder_->has("../sender"));
  const auto receiver = *SegmentFolder::open(folder_->name());
  ASSERT_TRUE(receiver->enter("receiver"));
  EXPECT_TRUE(folder_->has("receiver"));
  EXPECT_FALSE(receiver->enter("a/b"));
}

TEST_F(Segments, WhoLeavesLastRemovesTheFolder) {
  const auto folder = path();
  auto receiver = *SegmentFolder::open(folder_->name());
  store_.reset();
  folder_.reset();
  EXPECT_TRUE(std::filesystem::exists(folder));
  receiver.reset();
  EXPECT_FALSE(std::filesystem::exists(folder));
}

/// A process that enters the folder, leaves a segment there, and is killed.
std::string leave_segment_behind(const SharedMemory& memory) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto folder = *SegmentFolder::open(memory);
    if (!folder->enter("killed")) ::_exit(1);
    const auto store = SegmentStore::make(folder, "killed");
    const auto placed = store->place({owned_bytes(bytes_of('k'))});
    const std::string name = read_segment_part(placed->buffers[0].bytes)->name;
    [[maybe_unused]] const auto written = ::write(ends[1], name.data(), name.size());
    ::kill(::getpid(), SIGKILL);
  }
  ::close(ends[1]);
  char name[256];
  const ssize_t size = ::read(ends[0], name, sizeof name);
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  return size > 0 ? std::string(name, static_cast<std::size_t>(size)) : "";
}

TEST_F(Segments, WhatAKilledProcessLeftIsRemovedWhenNobodyHasItMapped) {
  const std::string name = leave_segment_behind(folder_->name());
  const auto own = store_->place({owned_bytes(bytes_of('a'))});
  auto mapped = map(name);
  ASSERT_TRUE(mapped);
  folder_->remove_left(Duration(0));
  EXPECT_EQ(segments().size(), 2u);
  mapped = Error{ErrorKind::bad_input, ""};
  folder_->remove_left(std::chrono::hours(1));
  EXPECT_EQ(segments().size(), 2u);  // a message that names it may be on its way
  folder_->remove_left(Duration(0));
  EXPECT_EQ(segments(), std::vector<std::string>{part_of(*own).name});
  EXPECT_FALSE(folder_->has("killed"));
  EXPECT_TRUE(folder_->has("sender"));
}

TEST_F(Segments, TheFolderOfAClusterOfWhichNobodyLivesIsRemovedByTheNextOne) {
  const auto abandoned = parent_.path() / "polyxeus-arrays-gone";
  std::filesystem::create_directory(abandoned);
  ASSERT_EQ(::chmod(abandoned.c_str(), 0700), 0);
  std::ofstream(abandoned / "a.b.1") << "left";
  const auto next = SegmentFolder::create({parent_.path(), {}});
  ASSERT_TRUE(next);
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(Segments, TheFolderIsTheSameForTheNextController) {
  const auto again = SegmentFolder::restore(path());
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->name().identity, folder_->name().identity);
}

TEST_F(Segments, AtTheEndOfTheClusterNothingIsLeft) {
  const auto placed = store_->place({owned_bytes(bytes_of('a'))});
  const auto mapped = map(part_of(*placed).name);
  folder_->remove_all();
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(*(*mapped)->part(0, large), bytes_of('a'));
  EXPECT_FALSE(store_->place({owned_bytes(bytes_of('b'))}));
}

}  // namespace
}  // namespace px::os
