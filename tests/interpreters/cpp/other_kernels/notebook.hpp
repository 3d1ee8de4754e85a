#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "interpreters/cpp/run/cpp_interpreter.hpp"

namespace px::cpp {

/// A notebook with its kernel: one interpreter for all tests of a suite, as there is one in a
/// process.
class Notebook : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    heard_ = new Heard;
    auto made = CppInterpreter::create(*heard_);
    ASSERT_TRUE(made) << made.error().what;
    cells_ = made->release();
    std::filesystem::create_directories(folder_);
  }
  static void TearDownTestSuite() {
    std::filesystem::remove_all(folder_);
    delete cells_;
    delete heard_;
  }

  Json run(const std::string& code) {
    heard_->printed.clear();
    heard_->warned.clear();
    heard_->messages.clear();
    interpreters::Execution execution;
    execution.code = code;
    execution.count = ++count_;
    return cells_->execute(execution);
  }
  /// What the value of the cell looks like; "" where it has none.
  std::string shown(const std::string& code, const std::string& mime = "text/plain") {
    const Json reply = run(code);
    EXPECT_EQ(reply["status"], "ok") << code << "\n" << reply.dump(1);
    for (const auto& [type, content] : heard_->messages)
      if (type == "execute_result") return content["data"].value(mime, "");
    return "";
  }
  std::string printed(const std::string& code) {
    const Json reply = run(code);
    EXPECT_EQ(reply["status"], "ok") << code << "\n" << reply.dump(1);
    return heard_->printed;
  }
  std::string why(const std::string& code) {
    const Json reply = run(code);
    EXPECT_EQ(reply["status"], "error") << code;
    return reply.value("evalue", "");
  }
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  struct Heard : interpreters::Output {
    void write(std::string_view stream, std::string_view text) override {
      (stream == "stderr" ? warned : printed) += text;
    }
    void publish(std::string_view type, std::string content, std::string,
                 std::vector<SharedBytes>) override {
      messages.emplace_back(type, Json::parse(content));
    }
    std::string printed, warned;
    std::vector<std::pair<std::string, Json>> messages;
  };
  static inline Heard* heard_ = nullptr;
  static inline CppInterpreter* cells_ = nullptr;
  static inline int count_ = 0;
  static inline const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("px_notebook" + std::to_string(::getpid()));
};

}  // namespace px::cpp
