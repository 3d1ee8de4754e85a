#include "os/private_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(PrivateFile, IsReadableByItsOwnerOnly) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(path, "text"));
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(*read_file(path), "text");
}

TEST(PrivateFile, HasTheModeThatIsAskedForWhateverTheUmask) {
  TemporaryFolder folder;
  const mode_t before = ::umask(077);
  ASSERT_TRUE(write_file_atomically(folder.path() / "file", "text", 0644));
  ::umask(before);
  EXPECT_EQ(mode_of(folder.path() / "file"), 0644u);
}

TEST(PrivateFile, ReplacesAnOldOneAndItsMode) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(path, "a longer old text", 0644));
  ASSERT_TRUE(write_file_atomically(path, "new"));
  EXPECT_EQ(*read_file(path), "new");
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(PrivateFile, IsNeverSeenInPart) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "file";
  const std::string one(100000, '1'), two(200000, '2');
  ASSERT_TRUE(write_file_atomically(path, one));
  std::atomic<bool> is_done = false;
  std::thread writer{[&] {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(write_file_atomically(path, i % 2 == 0 ? two : one));
    is_done = true;
  }};
  while (!is_done) {
    const Result<std::string> text = read_file(path);
    EXPECT_TRUE(text && (*text == one || *text == two));
  }
  writer.join();
}

TEST(PrivateFile, ThatCannotBeWrittenIsNamedAndLeavesNothing) {
  TemporaryFolder folder;
  const fs::path missing = folder.path() / "missing" / "file";
  const auto failed = write_file_atomically(missing, "text");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().what.find(missing.string()), std::string::npos);
  EXPECT_NE(failed.error().what.find("No such file"), std::string::npos);
  fs::create_directory(folder.path() / "taken");
  const auto taken = write_file_atomically(folder.path() / "taken", "text");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::system);
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(PrivateFile, ThatCannotBeReadIsNamed) {
  TemporaryFolder folder;
  const auto missing = read_file(folder.path() / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_EQ(missing.error().what,
            "cannot read " + (folder.path() / "missing").string() + ": No such file or directory");
  const auto a_folder = read_file(folder.path());
  ASSERT_FALSE(a_folder);
  EXPECT_EQ(a_folder.error().kind, ErrorKind::system);
}

TEST(PrivateFile, IsReadUpToABound) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(path, std::string(1000, 'x')));
  EXPECT_TRUE(read_file(path, 1000));
  EXPECT_EQ(read_file(path, 999).error().kind, ErrorKind::bad_input);
}

TEST(Folder, IsMadeWithItsParents) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "a" / "b" / "c";
  const mode_t before = ::umask(022);
  ASSERT_TRUE(make_folder(path, 0700));
  ::umask(before);
  EXPECT_EQ(mode_of(path), 0700u);
  EXPECT_EQ(mode_of(path.parent_path()), 0755u);
  EXPECT_TRUE(make_folder(path, 0755));
  EXPECT_EQ(mode_of(path), 0700u);
  EXPECT_TRUE(make_folder(folder.path() / "with" / "slash" / "", 0700));
  EXPECT_EQ(mode_of(folder.path() / "with" / "slash"), 0700u);
}

TEST(Folder, InWhosePlaceThereIsAFileIsNamed) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(path, "text"));
  const auto failed = make_folder(path);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().what.find(path.string()), std::string::npos);
  EXPECT_FALSE(make_folder(path / "below"));
}

TEST(PrivateFile, OnlyItsOwnerMayHaveRights) {
  constexpr unsigned me = 1000, root = 0, other = 1001;
  for (const unsigned mode : {0600u, 0400u, 0700u}) EXPECT_FALSE(why_not_private(me, mode, me));
  for (const unsigned mode : {0644u, 0640u, 0620u, 0602u, 0660u})
    EXPECT_TRUE(why_not_private(me, mode, me)) << mode;
  EXPECT_TRUE(why_not_private(other, 0600, me));
  EXPECT_TRUE(why_not_private(other, 0600, root));
  EXPECT_FALSE(why_not_private(root, 0440, me));  // a secret that is mounted into a container
  EXPECT_TRUE(why_not_private(root, 0444, me));
}

TEST(PrivateFile, OneThatOthersCanReadIsRefusedWithTheFix) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(path, "text"));
  EXPECT_EQ(*read_private_file(path), "text");
  ASSERT_TRUE(write_file_atomically(path, "text", 0644));
  const Result<std::string> refused = read_private_file(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  for (const std::string& part : {std::string("0644"), "chmod 600 " + path.string()})
    EXPECT_NE(refused.error().what.find(part), std::string::npos) << refused.error().what;
  EXPECT_EQ(read_private_file(folder.path() / "none").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace px::os
