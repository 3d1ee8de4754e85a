#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "interpreters/interpreter.hpp"
#include "wire/value.hpp"

namespace px::cpp {

/// The functions of a session that CppCheckpoints needs.
struct CheckpointSession {
  std::function<interpreters::ApplyResult(const interpreters::NativeRequest&)> serve;
  std::function<std::vector<std::string>()> variables;  ///< The names that cells have defined.
  std::function<bool(const std::string& name)> is_defined;
  std::function<std::set<std::string>()> scattered;  ///< Variables that are blocks of one array.
  /// Runs a cell; its failures are ignored.
  std::function<void(const std::string& code)> run;
  std::function<void(std::uint64_t bytes)> tell;  ///< Reports the number of bytes written or read.
};

/// A C++ engine's side of checkpoints: it serves the calls of polyxeus.engine_calls.checkpoint,
/// whose Python source documents them, for values that can be pulled. The main thread makes all
/// calls.
class CppCheckpoints {
 public:
  explicit CppCheckpoints(CheckpointSession session) : session_(std::move(session)) {}

  /// The result of a call_request; nothing if it calls another function.
  std::optional<interpreters::ApplyResult> serve(const interpreters::NativeRequest& request);

 private:
  struct Pulled {
    Value value;
    std::string type;  ///< In C++ spelling.
  };
  struct Loaded {
    Value value;
    std::string type;  ///< In C++ spelling; empty if another language has written it.
  };
  using Arguments = std::vector<Json>;

  Result<Json> call(const std::string& function, const Arguments& arguments);
  Result<Json> write(const Arguments& arguments);
  Result<Json> load(const Arguments& arguments);
  Result<Json> define(const Arguments& arguments);

  Result<Pulled> pull(const std::string& name) const;
  /// The manifest's entry of a variable whose file was written or linked.
  Result<Json> write_value(const std::filesystem::path& folder, const std::string& name,
                           const Pulled& pulled, std::size_t rank,
                           const std::filesystem::path& old_folder, const Json& old_entries);
  Result<Loaded> read_item(const std::filesystem::path& folder, const Json& item);
  void add_bytes(std::uint64_t count);

  CheckpointSession session_;
  std::map<std::string, std::map<std::string, Loaded>> loaded_;  // by token and name
  std::uint64_t bytes_ = 0;                                      // of the running call
  std::uint64_t linked_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace px::cpp
