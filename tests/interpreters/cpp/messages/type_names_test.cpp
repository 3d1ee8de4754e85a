#include "interpreters/cpp/messages/type_names.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <queue>
#include <set>
#include <unordered_map>
#include <vector>

namespace px::cpp {
namespace {

template <class T>
std::string name() {
  return name_of_type(typeid(T).name());
}

TEST(TypeNames, AreThoseThatProgramsWrite) {
  EXPECT_EQ(name<int>(), "int");
  EXPECT_EQ(name<std::string>(), "std::string");
  EXPECT_EQ(name<std::u16string>(), "std::u16string");
  EXPECT_EQ(name<std::wstring_view>(), "std::wstring_view");
  EXPECT_EQ(name<std::vector<std::vector<std::string>>>(), "std::vector<std::vector<std::string>>");
  EXPECT_EQ((name<std::map<std::string, std::set<int>>>()), "std::map<std::string, std::set<int>>");
  EXPECT_EQ((name<std::unordered_map<int, std::string>>()), "std::unordered_map<int, std::string>");
  EXPECT_EQ(name<std::unique_ptr<std::string>>(), "std::unique_ptr<std::string>");
  EXPECT_EQ(name<std::queue<int>>(), "std::queue<int>");
  EXPECT_EQ(name<void (*)(const std::string&)>(), "void (*)(std::string const&)");
}

TEST(TypeNames, KeepArgumentsThatAreNoDefaults) {
  EXPECT_EQ((name<std::set<int, std::greater<int>>>()), "std::set<int, std::greater<int>>");
  EXPECT_EQ((name<std::pair<int, std::allocator<int>>>()), "std::pair<int, std::allocator<int>>");
  EXPECT_EQ(name<std::vector<std::allocator<int>>>(), "std::vector<std::allocator<int>>");
}

TEST(TypeNames, OfFunctionsHaveTheTypesOfTheirParameters) {
  EXPECT_EQ(name_of_symbol("_Z1fNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"),
            "f(std::string)");
  EXPECT_EQ(name_of_symbol("_Z1fB2v3i"), "f(int)");
  EXPECT_EQ(name_of_symbol("cblas_ddot"), "cblas_ddot");
}

TEST(TypeNames, AreLeftAloneWhereTheyAreNoTemplates) {
  for (const char* const each :
       {"operator<(A, B)", "A::operator<<(int)", "A::operator->()", "operator<=>(A, B)", "a < b",
        "bool operator< <int>(A<int>)", "f<(1 > 0)>()", "A<B<"})
    EXPECT_EQ(as_written(each), each);
}

}  // namespace
}  // namespace px::cpp
