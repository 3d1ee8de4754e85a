#include "os/folders.hpp"

#include <gtest/gtest.h>

#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

TEST(TheTemporaryFolder, IsTheOneThatTheEnvironmentNames) {
  const TemporaryFolder folder;
  const ScopedVariable variable{"TMPDIR", folder.path().c_str()};
  EXPECT_EQ(temporary_folder(), folder.path());
}

TEST(TheTemporaryFolder, IsTheSystemsWhereThatOneIsNotThere) {
  const ScopedVariable variable{"TMPDIR", "/nowhere/at/all"};
  EXPECT_EQ(temporary_folder(), "/tmp");
}

}  // namespace
}  // namespace px::os
