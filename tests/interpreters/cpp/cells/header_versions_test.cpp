#include "interpreters/cpp/cells/header_versions.hpp"

#include <gtest/gtest.h>

namespace px::cpp {
namespace {

/// Files that need no disk, and cells that include them as a compiler would tell it.
class Headers : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) { files_[path] = text; }

  /// `in` includes `path`, whose text the compiler read when it was `read`.
  Inclusion inclusion(const std::string& in, const std::string& path, const std::string& read) {
    return {in, path, 0, 0, stamp_of_text(read)};
  }
  Inclusion inclusion(const std::string& in, const std::string& path) {
    return inclusion(in, path, files_[path]);
  }
  /// What the cell must name in place of what it names: "/a.hpp: changed; /b.hpp: again".
  std::string newer(const std::vector<Inclusion>& inclusions) {
    std::string text;
    const auto found = versions_.newer(
        inclusions, [&](const std::string& path) -> std::optional<std::string> {
          const auto file = files_.find(path);
          return file != files_.end() ? std::optional(file->second) : std::nullopt;
        });
    for (const auto& [path, each] : found)
      text += (text.empty() ? "" : "; ") + path + ": " +
              (!each.version.empty() ? each.version : each.has_changed ? "changed" : "again");
    return text;
  }

  HeaderVersions versions_;

 private:
  std::map<std::string, std::string> files_;
};

TEST_F(Headers, AreReadAgainWhenTheyHaveChanged) {
  write("/a.hpp", "#pragma once\nint a;");
  EXPECT_TRUE(versions_.is_empty());
  const Inclusion once = inclusion("", "/a.hpp");
  EXPECT_EQ(newer({once}), "");
  versions_.note({once}, {});
  EXPECT_FALSE(versions_.is_empty());
  EXPECT_EQ(newer({once}), "");
  write("/a.hpp", "#pragma once\nint b;");
  EXPECT_EQ(newer({once}), "/a.hpp: changed");
}

TEST_F(Headers, AreNamedByTheirNewestVersionFromThenOn) {
  write("/a.hpp", "#pragma once\nint a;");
  const Inclusion first = inclusion("", "/a.hpp");
  versions_.note({first}, {});
  write("/a.hpp", "#pragma once\nint b;");
  const std::string version = version_path("/a.hpp", 3);
  versions_.note({inclusion("", version)}, {{version, stamp_of_text("#pragma once\nint b;")}});
  EXPECT_EQ(newer({first}), "/a.hpp: /a.hpp (version 3)");
  write("/a.hpp", "#pragma once\nint c;");
  EXPECT_EQ(newer({first}), "/a.hpp: changed");
}

TEST_F(Headers, AreReadAgainWithWhatTheyInclude) {
  for (const char* path : {"/outer.hpp", "/inner.hpp", "/other.hpp"}) write(path, "#pragma once\n");
  const std::vector<Inclusion> cell = {inclusion("", "/outer.hpp"),
                                       inclusion("/outer.hpp", "/inner.hpp"),
                                       inclusion("", "/other.hpp")};
  versions_.note(cell, {});
  write("/inner.hpp", "#pragma once\nint changed;");
  // The guard of the outer one hides what it includes.
  EXPECT_EQ(newer({cell[0], cell[2]}), "/outer.hpp: changed");
  const std::string outer = version_path("/outer.hpp", 2);
  EXPECT_EQ(newer({inclusion("", outer), inclusion(outer, "/inner.hpp", "#pragma once\n")}),
            "/inner.hpp: changed");
}

TEST_F(Headers, ThatAreNewNameTheNewestOfWhatTheyInclude) {
  write("/inner.hpp", "#pragma once\n");
  versions_.note({inclusion("", "/inner.hpp")}, {});
  const Inclusion nested = inclusion("/new.hpp", "/inner.hpp");
  write("/inner.hpp", "#pragma once\nint changed;");
  write("/new.hpp", "#include \"inner.hpp\"\n");
  EXPECT_EQ(newer({inclusion("", "/new.hpp"), nested}), "/inner.hpp: changed; /new.hpp: changed");
}

TEST_F(Headers, WithoutAGuardAreReadEachTime) {
  write("/a.hpp", "int a;");
  EXPECT_EQ(newer({inclusion("", "/a.hpp")}), "");
  versions_.note({inclusion("", "/a.hpp")}, {});
  EXPECT_EQ(newer({inclusion("", "/a.hpp")}), "/a.hpp: again");
}

TEST_F(Headers, ThatIncludeEachOtherAreNoCircle) {
  write("/a.hpp", "#pragma once\n");
  write("/b.hpp", "#pragma once\n");
  const std::vector<Inclusion> cell = {inclusion("", "/a.hpp"), inclusion("/a.hpp", "/b.hpp"),
                                       inclusion("/b.hpp", "/a.hpp")};
  versions_.note(cell, {});
  EXPECT_EQ(newer(cell), "");
}

TEST_F(Headers, ThatTheCompilerTakesForAnotherFileAreReadFromTheirOwn) {
  write("/a.hpp", "#pragma once\nint a;");
  versions_.note({inclusion("", "/a.hpp")}, {});
  write("/b.hpp", "#pragma once\nint b;");  // where the number of a deleted file is used again
  EXPECT_EQ(newer({inclusion("", "/b.hpp", "#pragma once\nint a;")}), "/b.hpp: changed");
}

TEST_F(Headers, ThatAreGoneStayAsTheyWere) {
  write("/a.hpp", "#pragma once\n");
  versions_.note({inclusion("", "/a.hpp")}, {});
  EXPECT_EQ(newer({inclusion("", "/gone.hpp", "what was there")}), "");
}

TEST(HeaderVersions, HavePathsOfTheirOwn) {
  EXPECT_EQ(version_path("/d/a.hpp", 12), "/d/a.hpp (version 12)");
  EXPECT_EQ(header_of_version("/d/a.hpp (version 12)"), "/d/a.hpp");
  EXPECT_EQ(header_of_version("/d/a.hpp"), "/d/a.hpp");
}

TEST(IncludeGuards, AreFoundInTexts) {
  EXPECT_TRUE(has_include_guard("#pragma once\nint x;"));
  EXPECT_TRUE(has_include_guard("// mine\n/* 2 */ # pragma once // only\nint x;"));
  EXPECT_TRUE(has_include_guard("\n// mine\n#ifndef MINE_H\n#define MINE_H 1\nint x;\n#endif\n"));
  EXPECT_TRUE(has_include_guard("#if !defined(MINE_H)\n# define MINE_H\n#endif"));
  EXPECT_FALSE(has_include_guard("int x;"));
  EXPECT_FALSE(has_include_guard("// #pragma once\nint x;"));
  EXPECT_FALSE(has_include_guard("#ifndef A\n#define B\n#endif\n"));
  EXPECT_FALSE(has_include_guard("int x;\n#ifndef A\n#define A\n#endif\n"));
}

}  // namespace
}  // namespace px::cpp
