#include "controller/web/page_files.hpp"

#include <gtest/gtest.h>

#include "os/private_file.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::controller {
namespace {

TEST(PageFiles, AreThoseOfTheFolder) {
  const os::TemporaryFolder folder;
  ASSERT_TRUE(os::write_file_atomically(folder.path() / "index.html", "<p>"));
  ASSERT_TRUE(os::write_file_atomically(folder.path() / "page.js", "run()"));
  std::filesystem::create_directory(folder.path() / "more");
  const auto files = read_page_files(folder.path());
  ASSERT_TRUE(files);
  EXPECT_EQ(*files,
            (std::map<std::string, std::string>{{"index.html", "<p>"}, {"page.js", "run()"}}));
}

TEST(PageFiles, AFolderWithoutAnIndexHasNone) {
  const os::TemporaryFolder folder;
  EXPECT_FALSE(read_page_files(folder.path()));
  EXPECT_FALSE(read_page_files(folder.path() / "missing"));
}

}  // namespace
}  // namespace px::controller
