#include <gtest/gtest.h>

#include "jupyter/kernel_connection.hpp"
#include "wire/json.hpp"

namespace px::jupyter {
namespace {

Json usual_file() {
  return {{"transport", "tcp"},  {"ip", "127.0.0.1"},     {"shell_port", 1},
          {"control_port", 2},   {"stdin_port", 3},       {"iopub_port", 4},
          {"hb_port", 5},        {"key", "a-b"},          {"signature_scheme", "hmac-sha256"},
          {"kernel_name", "py"}, {"jupyter_session", "x"}};
}

TEST(KernelConnection, AFileOfJupytersIsRead) {
  const auto connection = read_kernel_connection(usual_file().dump());
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->endpoint(connection->shell), "tcp://127.0.0.1:1");
  EXPECT_EQ(connection->input, 3);
  EXPECT_EQ(connection->heartbeat, 5);
  EXPECT_EQ(connection->key, "a-b");
  EXPECT_FALSE(connection->curve);
}

TEST(KernelConnection, SocketsOfTheFileSystemAreNamedByNumbers) {
  Json file = usual_file();
  file["transport"] = "ipc";
  file["ip"] = "/run/kernel";
  const auto connection = read_kernel_connection(file.dump());
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->endpoint(4), "ipc:///run/kernel-4");
}

TEST(KernelConnection, KeysForEncryptionAreTaken) {
  Json file = usual_file();
  file["curve_publickey"] = "public";
  file["curve_secretkey"] = "secret";
  const auto connection = read_kernel_connection(file.dump());
  ASSERT_TRUE(connection && connection->curve);
  EXPECT_EQ(connection->curve->secret_key, "secret");
}

TEST(KernelConnection, AFileThatIsWrittenIsReadAgain) {
  Json file = usual_file();
  file["curve_publickey"] = "public";
  file["curve_secretkey"] = "secret";
  const auto connection = read_kernel_connection(file.dump());
  ASSERT_TRUE(connection);
  const Json written = Json::parse(write_kernel_connection(*connection));
  for (const auto& [key, value] : file.items()) {
    if (key == "kernel_name" || key == "jupyter_session") continue;
    EXPECT_EQ(written[key], value) << key;
  }
}

TEST(KernelConnection, TheErrorNamesTheKey) {
  for (const char* key : {"shell_port", "control_port", "stdin_port", "iopub_port", "hb_port"}) {
    Json file = usual_file();
    file.erase(key);
    EXPECT_NE(read_kernel_connection(file.dump()).error().what.find(key), std::string::npos);
    file[key] = 70000;
    EXPECT_NE(read_kernel_connection(file.dump()).error().what.find(key), std::string::npos);
    file[key] = "4";
    EXPECT_FALSE(read_kernel_connection(file.dump()));
  }
  Json file = usual_file();
  file["transport"] = "pgm";
  EXPECT_NE(read_kernel_connection(file.dump()).error().what.find("pgm"), std::string::npos);
  EXPECT_FALSE(read_kernel_connection("[1]"));
  EXPECT_FALSE(read_kernel_connection(""));
}

}  // namespace
}  // namespace px::jupyter
