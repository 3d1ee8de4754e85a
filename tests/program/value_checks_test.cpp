#include "program/value_checks.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/os/temporary_folder.hpp"

namespace px::program {
namespace {

using Texts = std::vector<const char*>;

void accepts(const ValueCheck& check, const Texts& texts) {
  for (const char* text : texts) EXPECT_EQ(check(text), "") << "'" << text << "'";
}

/// Each sentence begins as those of all checks, and has the text.
void refuses(const ValueCheck& check, const Texts& texts) {
  for (const char* text : texts) {
    const std::string sentence = check(text);
    EXPECT_TRUE(sentence.starts_with("takes ")) << "'" << text << "': " << sentence;
    EXPECT_NE(sentence.find(text), std::string::npos) << sentence;
  }
}

TEST(ValueChecks, NumbersHaveAnEnd) {
  accepts(number_of("seconds"), {"0", "1e-3", "1e9"});
  refuses(number_of("seconds"), {"1e10", "inf", "nan", "-1", "abc", ""});
  EXPECT_EQ(number_of("minutes", 1e7)("1e8"),
            "takes a number of minutes up to 10000000, not '1e8'");
}

TEST(ValueChecks, ADurationIsANumberWithAUnit) {
  EXPECT_EQ(read_seconds("30s"), 30);
  EXPECT_EQ(read_seconds("1.5m"), 90);
  EXPECT_EQ(read_seconds("2h"), 7200);
  EXPECT_EQ(read_seconds("1d"), 86400);
  for (const char* text : {"", "s", "10", "-1m", "abc", "infs", "nand", "1e300s", "10 w"})
    EXPECT_EQ(read_seconds(text), std::nullopt) << text;
}

TEST(ValueChecks, AFileIsThereAndCanBeRead) {
  const os::TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "text";
  std::string from = folder.path();
  accepts(existing_file(from), {"file", ""});
  refuses(existing_file(from), {"missing", "."});
  refuses(existing_file(), {"file"});
  EXPECT_EQ(existing_file()("missing"),
            "takes a file that can be read, not 'missing': No such file or directory");
}

TEST(ValueChecks, AFolderIsThereOrCanBeMade) {
  accepts(existing_folder(), {"/", ".", ""});
  refuses(existing_folder(), {"missing", "/etc/passwd"});
  accepts(folder_to_make(), {"/", "missing/folder", "/missing/folder", "~/missing", ""});
  refuses(folder_to_make(), {"/etc/passwd", "/dev/null/x/y"});
  accepts(file_to_write(), {"", "-", "file", "/file"});
  refuses(file_to_write(), {"missing/file", "/etc/passwd/file"});
}

TEST(ValueChecks, HostsAndAddresses) {
  accepts(host(), {"", "node-1.site", "::1", "[fd00::1]", "fe80::1%eth0", "10.0.0.1"});
  refuses(host(), {"a b", "no!"});
  accepts(own_addresses(), {"", "*", "0.0.0.0", "::", "[::1]", "10.0.0.1, ::1", "eth0", "lo"});
  refuses(own_addresses(), {"1.2.3.4.5", "a b", "300.1.1.1", "a-name-of-no-interface"});
  accepts(ssh_server(), {"", "host", "ann@host:22", "[::1]:22", "::1"});
  refuses(ssh_server(), {":22", "a host", "host:70000", "-oProxyCommand=x"});
}

TEST(ValueChecks, LanguagesVariablesAndWords) {
  accepts(language_plan(), {"", "python", "cpp", "c++", "python:2,cpp:2"});
  refuses(language_plan(), {"ruby", "python:x"});
  accepts(variable_names(), {"a", "a, _b1", "\xc3\xa4"});
  refuses(variable_names(), {"", "a,", "1b", "a-b"});
  accepts(variable_name(), {"a", "_b1", "\xc3\xa4"});
  refuses(variable_name(), {"", "a,b", "a, b", " a", "1b", "a-b"});
  accepts(shell_words(), {"", "a 'b c' \"d\""});
  refuses(shell_words(), {"'a", "a \"b"});
}

}  // namespace
}  // namespace px::program
