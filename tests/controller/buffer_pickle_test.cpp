#include "controller/hub/buffer_pickle.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

TEST(BufferPickle, ReadsBackWhatItWrote) {
  const std::string large(70'000, 'x');
  const auto read = unpickle_buffers(pickle_buffers({"", "abc", large}));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (std::vector<std::string>{"", "abc", large}));
}

TEST(BufferPickle, AnEmptyListIsAList) {
  const auto read = unpickle_buffers(pickle_buffers({}));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->empty());
}

TEST(BufferPickle, ReadsWhatPythonWritesInItsHighestProtocol) {
  // pickle.dumps([b'ab', b'c'], -1) of CPython 3.11
  const std::string python =
      bytes({0x80, 5,   0x95, 13,  0,   0,    0,   0, 0,   0,    0,   ']', 0x94,
             '(',  'C', 2,    'a', 'b', 0x94, 'C', 1, 'c', 0x94, 'e', '.'});
  const auto read = unpickle_buffers(python);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (std::vector<std::string>{"ab", "c"}));
}

TEST(BufferPickle, ReadsOneItemAndOneObjectTwice) {
  const auto one = unpickle_buffers(bytes({0x80, 4, ']', 0x94, 'C', 1, 'a', 0x94, 'a', '.'}));
  ASSERT_TRUE(one);
  EXPECT_EQ(*one, std::vector<std::string>{"a"});
  const auto twice =
      unpickle_buffers(bytes({0x80, 4, ']', 0x94, '(', 'C', 1, 'a', 0x94, 'h', 1, 'e', '.'}));
  ASSERT_TRUE(twice);
  EXPECT_EQ(*twice, (std::vector<std::string>{"a", "a"}));
}

TEST(BufferPickle, RefusesEverythingElse) {
  const std::string good = pickle_buffers({"abc", std::string(300, 'y')});
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(unpickle_buffers(std::string_view(good).substr(0, size))) << size;
  EXPECT_FALSE(unpickle_buffers("cos\nsystem\n(S'true'\ntR."));
  EXPECT_FALSE(unpickle_buffers(bytes({0x80, 4, 'N', '.'})));
  EXPECT_FALSE(unpickle_buffers(bytes({0x80, 4, ']', 'B', 0xff, 0xff, 0xff, 0xff, 'a', '.'})));
  EXPECT_FALSE(unpickle_buffers(bytes({0x80, 4, ']', 'r', 0xff, 0xff, 0xff, 0xff, '.'})));
  EXPECT_FALSE(unpickle_buffers(bytes({0x80, 4, ']', ']', 'a', '.'})));
}

}  // namespace
}  // namespace px::controller
