#include "os/file_writer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "os/private_file.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

using namespace std::chrono_literals;

class FileWriterTest : public testing::Test {
 protected:
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
};

TEST_F(FileWriterTest, WritesWhatItWasToldLast) {
  FileWriter writer{folder_ + "/file"};
  ASSERT_TRUE(writer.write("one", 20s));
  ASSERT_TRUE(writer.write("two", 20s));
  EXPECT_EQ(*read_file(folder_ + "/file"), "two");
}

TEST_F(FileWriterTest, SaysWhyItCannotWrite) {
  FileWriter writer{folder_ + "/none/file"};
  const auto written = writer.write("one", 20s);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::not_found);
}

TEST_F(FileWriterTest, GoesOnWhereTheDiskDoesNotAnswer) {
  FileWriter writer{folder_ + "/file"};
  const auto hung = writer.write("one", 0s);  // no disk answers that fast
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().kind, ErrorKind::overloaded);
  while (!writer.write("two", 20s)) std::this_thread::yield();
  EXPECT_EQ(*read_file(folder_ + "/file"), "two");
}

}  // namespace
}  // namespace px::os
