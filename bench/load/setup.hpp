#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/load/load_client.hpp"
#include "bench/load/measured_process.hpp"
#include "wire/json.hpp"

namespace px::bench {

/// What is measured: a relay and engines behind it.
struct SetupOptions {
  std::filesystem::path folder;  ///< For logs and connection files; emptied first.
  std::string controller;        ///< The program pxcontroller; empty = the raw relay.
  std::vector<std::string> controller_options = {};
  std::size_t engine_count = 4;
  std::string python_engine = {};  ///< The program pxengine; empty = echo engines in C++.
};

/// A relay and its engines, as processes.
class Setup {
 public:
  /// Returns when all engines answer. Throws std::runtime_error, which names the folder of the
  /// logs.
  explicit Setup(const SetupOptions& options);

  LoadClient& client() { return *client_; }
  MeasuredProcess& relay() { return *relay_; }
  const std::filesystem::path& client_file() const { return client_file_; }

 private:
  MeasuredProcess start(const std::vector<std::string>& command, const std::string& log) const;
  void start_relay();
  void start_engines();

  SetupOptions options_;
  bool is_raw_;
  std::filesystem::path client_file_, engine_file_;
  std::optional<MeasuredProcess> relay_;
  std::vector<MeasuredProcess> engines_;
  std::optional<LoadClient> client_;
};

/// The program of this name beside the one that runs.
std::string program_beside(const std::string& name);
std::string temporary_folder(const std::string& name);
double median(std::vector<double> values);

/// The parts that a bench plays itself, as processes of the same program.
class BenchRole {
 public:
  void add_to(CLI::App& app);
  /// Plays the part that the command line names; nothing where it names none.
  std::optional<int> run() const;

 private:
  std::string role_, folder_, file_;
  std::size_t engines_ = 0;
  bool is_raw_ = false;
};

/// What every bench of a relay can be told.
struct BenchOptions {
  std::string controller = program_beside("pxcontroller"), folder, only, json_file;
  std::size_t engines = 4, tasks = 40000, window = 256;
  int repeats = 5;
  bool has_no_ipc = false;
  /// Those of a controller: `extra`, and --no-ipc where that is asked for.
  std::vector<std::string> controller_options(std::vector<std::string> extra) const;
  /// Into the file that is asked for, if any.
  void write(const Json& results) const;
};

/// The command line of such a bench.
class BenchProgram {
 public:
  /// name  for messages and temporary folders.  options  outlive this.
  BenchProgram(std::string name, const std::string& purpose, BenchOptions& options);
  /// For options that one bench alone has.
  CLI::App& app() { return app_; }
  /// Parses and calls bench(), or plays the part that the command line names. The exit code.
  int run(int argc, char** argv, const std::function<void()>& bench);

 private:
  std::string name_;
  BenchOptions& options_;
  BenchRole role_;
  CLI::App app_;
};

/// One figure of a subject, and how it is taken: a function object or a member function.
template <class Subject>
struct Measurement {
  std::string name;
  std::function<double(Subject&)> take;
};

/// All subjects stand ready at the same time and are measured in turn, so that what else happens on
/// this host meets each of them alike. The median of `repeats`, by subject and figure.
/// only  figures with this text in their name alone.
template <class Subject>
Json measure_in_turn(const std::map<std::string, std::unique_ptr<Subject>>& subjects,
                     const std::vector<Measurement<Subject>>& measurements, int repeats,
                     const std::string& only) {
  Json results;
  for (const Measurement<Subject>& measurement : measurements) {
    if (measurement.name.find(only) == std::string::npos) continue;
    std::cerr << measurement.name << " ..." << std::endl;
    std::map<std::string, std::vector<double>> values;
    for (int i = 0; i <= repeats; ++i)  // the first one warms up
      for (const auto& [name, subject] : subjects) {
        const double value = measurement.take(*subject);
        if (i > 0) values[name].push_back(value);
      }
    for (const auto& [name, taken] : values) results[name][measurement.name] = median(taken);
  }
  return results;
}

}  // namespace px::bench
