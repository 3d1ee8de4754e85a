#include "program/config_files.hpp"

#include <gtest/gtest.h>

#include "os/private_file.hpp"

namespace px::program {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class ConfigFolder : public testing::Test {
 protected:
  ConfigFolder() {
    std::string pattern = testing::TempDir() + "config_XXXXXX";
    folder = ::mkdtemp(pattern.data());
  }
  ~ConfigFolder() override { fs::remove_all(folder); }

  fs::path write(const std::string& name, std::string_view text) {
    EXPECT_TRUE(os::write_file_atomically(folder / name, text));
    return folder / name;
  }

  fs::path folder;
};

ConfigFile file_of(const char* settings) {
  return {"x.json", Json::parse(settings), {}};
}

TEST(PythonConfig, OfCommentsAloneSetsNothing) {
  EXPECT_FALSE(sets_something(""));
  EXPECT_FALSE(
      sets_something("# Configuration file for ipcluster.\n\nc = get_config()  #noqa\n\n"
                     "## Help\n#  Default: 3\n# c.Cluster.n = 3\r\n   \t\n# end"));
  EXPECT_TRUE(sets_something("# one\nc.Cluster.n = 3"));
  EXPECT_TRUE(sets_something("c = get_config()\nimport os"));
}

TEST(ConfigArguments, AreTheOptionsOfTheFilesInTheirOrder) {
  const auto arguments = config_arguments(
      {file_of(R"({"IPController": {"ip": "*", "reuse_files": true, "ports": ["1-2", 7]},
                   "version": 1})"),
       file_of(R"({"HeartMonitor": {"period": 200, "nothing": null, "object": {"a": 1}}})")});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(*arguments, (Words{"--IPController.ip=*", "--IPController.ports=1-2,7",
                               "--IPController.reuse_files=true", "--HeartMonitor.period=200"}));
}

TEST(ConfigArguments, RefuseWhatIsNoObjectOfOptions) {
  const auto arguments = config_arguments({file_of(R"({"IPController": 7})")});
  ASSERT_FALSE(arguments);
  EXPECT_EQ(arguments.error().what, "x.json: 'IPController' is not an object of options");
}

TEST(ConfigWarnings, NameWhatCannotBeUsed) {
  EXPECT_EQ(warning_of_unusable(file_of("{}")), "");
  ConfigFile file = file_of("{}");
  file.unusable = {"A.b", "C.d"};
  EXPECT_EQ(warning_of_unusable(file),
            "x.json: A.b, C.d cannot be used and are ignored: not text, a number, or a list of "
            "these");
}

TEST_F(ConfigFolder, HasNoFileOrThoseThatAreThere) {
  const auto none = read_config_files(folder, "ipengine", "pxengine");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  write("ipengine_config.json", R"({"IPEngine": {"timeout": 9}})");
  write("ipengine_config.py", "# c.IPEngine.timeout = 5");
  write("ipcluster_config.json", "{}");
  const auto files = read_config_files(folder, "ipengine", "pxengine");
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].path.filename(), "ipengine_config.py");
  EXPECT_TRUE((*files)[0].settings.empty());
  EXPECT_EQ((*files)[1].settings["IPEngine"]["timeout"], 9);
}

TEST_F(ConfigFolder, AFileThatCannotBeReadIsNamed) {
  const auto malformed = read_config_file(write("a.json", "c.X.y = 1"), "");
  ASSERT_FALSE(malformed);
  EXPECT_NE(malformed.error().what.find("a.json: is not a JSON object"), std::string::npos);
  const auto other = read_config_file(write("a.yaml", "a: 1"), "");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().what.find("ends with .py or .json"), std::string::npos);
  EXPECT_EQ(read_config_file(folder / "missing.py", "").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace px::program
