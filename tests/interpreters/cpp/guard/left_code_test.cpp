#include "interpreters/cpp/guard/left_code.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace px::cpp {
namespace {

using enum CallKind;
using Calls = std::vector<CallKind>;

TEST(LeftCode, OfACellCanBeLeftAtAnyTime) {
  const Calls calls{other, other};
  EXPECT_TRUE(LeftCode{calls}.can_be_interrupted(false));
  EXPECT_TRUE(LeftCode{calls}.can_crash());
  EXPECT_TRUE(LeftCode{calls}.can_abort());
  EXPECT_TRUE(LeftCode{Calls{}}.can_be_interrupted(false));
}

TEST(LeftCode, OfTheCLibraryIsLeftForAnInterruptOnlyWhereItWaits) {
  const Calls calls{c_library, c_library, other};
  EXPECT_FALSE(LeftCode{calls}.can_be_interrupted(false));
  EXPECT_TRUE(LeftCode{calls}.can_be_interrupted(true));
  const Calls waits_for_the_heap{c_library, allocation, other};
  EXPECT_FALSE(LeftCode{waits_for_the_heap}.can_be_interrupted(true));
}

TEST(LeftCode, IsLeftAfterACrashInTheCLibraryButNotInTheHeap) {
  const Calls in_strlen{c_library, other}, in_free{c_library, allocation, other};
  EXPECT_TRUE(LeftCode{in_strlen}.can_crash());
  EXPECT_FALSE(LeftCode{in_free}.can_crash());
  const Calls called_by_the_library{other, c_library, allocation, other};
  EXPECT_TRUE(LeftCode{called_by_the_library}.can_crash());
}

TEST(LeftCode, IsLeftAfterAnAbortThatTheProgramAskedForButNotOneOfTheCLibrary) {
  const Calls by_assert{c_library, abortion, abortion, other};
  EXPECT_TRUE(LeftCode{by_assert}.can_abort());
  const Calls in_free{abortion, abortion, c_library, allocation, other};
  EXPECT_FALSE(LeftCode{in_free}.can_abort());
  const Calls unknown{abortion, abortion, c_library, other};
  EXPECT_FALSE(LeftCode{unknown}.can_abort());
}

TEST(LeftCode, IsNeverLeftInTheLoaderNorWhereExceptionsAreThrown) {
  const Calls binding{loader, other}, constructor_of_a_library{other, loader, c_library, other};
  for (const Calls& calls : {binding, constructor_of_a_library}) {
    EXPECT_FALSE(LeftCode{calls}.can_be_interrupted(true));
    EXPECT_FALSE(LeftCode{calls}.can_crash());
    EXPECT_FALSE(LeftCode{calls}.can_abort());
  }
  const Calls throwing{unwinder, other};
  EXPECT_FALSE(LeftCode{throwing}.can_be_interrupted(false));
  EXPECT_FALSE(LeftCode{throwing}.can_crash());
}

TEST(LeftCode, OfASignalHandlerIsLeftOnlyWhereWhatItHasInterruptedCanBe) {
  const Calls above_a_cell{other, c_library, signal, other, c_library, other};
  EXPECT_TRUE(LeftCode{above_a_cell}.can_be_interrupted(false));
  const Calls above_malloc{other, c_library, signal, allocation, other};
  EXPECT_FALSE(LeftCode{above_malloc}.can_be_interrupted(true));
  EXPECT_FALSE(LeftCode{above_malloc}.can_crash());
  EXPECT_FALSE(LeftCode{above_malloc}.can_abort());
  const Calls above_printf{other, signal, c_library, other};
  EXPECT_FALSE(LeftCode{above_printf}.can_be_interrupted(false));
  EXPECT_TRUE(LeftCode{above_printf}.can_crash());
  const Calls two_handlers{other, signal, other, signal, c_library, allocation, other};
  EXPECT_FALSE(LeftCode{two_handlers}.can_be_interrupted(false));
  EXPECT_FALSE(LeftCode{two_handlers}.can_crash());
}

}  // namespace
}  // namespace px::cpp
