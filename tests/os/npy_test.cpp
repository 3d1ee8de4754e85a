#include <gtest/gtest.h>

#include "os/npy.hpp"

namespace px::os {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string file{"\x93NUMPY\x01\x00", 8};
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + data;
}

std::string bytes_of(const std::vector<std::int32_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * 4};
}

TEST(Npy, WhatIsWrittenIsReadAgain) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{6}, {2, 3}, {1, 2, 3}, {0}, {}}) {
    AnyArray array{"<i4", shape, {}};
    array.data = owned_bytes(std::string(static_cast<std::size_t>(array.size()) * 4, 'x'));
    const std::string file = write_npy(array);
    EXPECT_EQ((file.size() - array.bytes()) % 64, 0u) << "NumPy aligns the elements";
    const auto read = read_npy(file);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->shape, shape);
    EXPECT_EQ(read->dtype, "<i4");
    EXPECT_EQ(read->data.bytes, array.data.bytes);
  }
}

TEST(Npy, ColumnMajorArraysAreTurned) {
  const auto read = read_npy(file_of("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n",
                                     bytes_of({1, 4, 2, 5, 3, 6})));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->data.bytes, bytes_of({1, 2, 3, 4, 5, 6}));
}

TEST(Npy, WhatCannotBeReadIsNamed) {
  EXPECT_FALSE(read_npy(""));
  EXPECT_FALSE(read_npy("hello, this is some text"));
  EXPECT_FALSE(read_npy(std::string_view("\x93NUMPY\x01\x00\xff\xff", 10)));
  EXPECT_FALSE(
      read_npy(file_of("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "1234")))
      << "too few bytes";
  EXPECT_FALSE(
      read_npy(file_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "1234")))
      << "Python objects";
  EXPECT_FALSE(read_npy(
      file_of("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", "1234")));
  EXPECT_FALSE(read_npy(file_of("{}", "")));
}

}  // namespace
}  // namespace px::os
