// Measures the C++ client through pxcontroller, beside the raw limit in the same run: a client that
// only sends and receives frames, and the simplest relay that could do the work. Engines are echo
// engines in C++ and, where --python-engine names a pxengine, real Python engines.
//   client_bench --python-engine .venv/bin/pxengine --json results.json

#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "bench/load/setup.hpp"
#include "client/client.hpp"

namespace px::bench {
namespace {

struct Options : BenchOptions {
  std::string python_engine;
  std::size_t payload_mib = 64;
};

/// What is measured, by a client of its own.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual double direct_tasks_per_s() = 0;
  virtual double balanced_tasks_per_s() = 0;
  virtual double round_trip_us() = 0;
  virtual double all_engines_us() = 0;
  virtual double payload_gb_per_s() = 0;
};

/// The raw limit: a client that knows nothing but frames.
class RawSubject final : public Subject {
 public:
  RawSubject(const Options& options, const SetupOptions& setup)
      : options_(options), setup_(setup) {}
  double direct_tasks_per_s() override { return tasks_per_s(LoadClient::Scheme::direct); }
  double balanced_tasks_per_s() override { return tasks_per_s(LoadClient::Scheme::balanced); }
  double round_trip_us() override { return setup_.client().run({.count = 3000}).median_us(); }
  double all_engines_us() override {
    return setup_.client().fan_out(1000, options_.engines).median_us();
  }
  double payload_gb_per_s() override {
    const std::size_t bytes = options_.payload_mib << 20;
    const auto run = setup_.client().run({.count = 5, .payload_bytes = bytes});
    return static_cast<double>(bytes) / run.median_us() / 1e3;
  }

 private:
  double tasks_per_s(LoadClient::Scheme scheme) {
    return setup_.client()
        .run({.scheme = scheme,
              .count = options_.tasks,
              .window = options_.window,
              .engine_count = options_.engines})
        .per_second();
  }
  const Options& options_;
  Setup setup_;
};

/// The library as its users call it.
class ClientSubject final : public Subject {
 public:
  ClientSubject(const Options& options, const SetupOptions& setup)
      : options_(options),
        setup_(setup),
        client_(client::Client::connect({.file = setup_.client_file()})) {
    client_.wait_for_engines(options_.engines);
    for (const EngineId id : client_.ids()) views_.push_back(client_.direct({id}));
  }

  double direct_tasks_per_s() override {
    return tasks_per_s([this](std::size_t i) { return views_[i % views_.size()].call(no_op_); });
  }
  double balanced_tasks_per_s() override {
    const client::LoadBalancedView view = client_.balanced();
    return tasks_per_s([&](std::size_t) { return view.call(no_op_); });
  }
  double round_trip_us() override {
    return median_us(3000, [this] { views_[0].call(no_op_).wait(); });
  }
  double all_engines_us() override {
    const client::DirectView all = client_.all();
    return median_us(1000, [&] { all.call(no_op_).wait(); });
  }
  double payload_gb_per_s() override {
    const std::size_t bytes = options_.payload_mib << 20;
    const Value payload = AnyArray::adopt(std::vector<double>(bytes / 8));
    return static_cast<double>(bytes) / 1e3 / median_us(5, [&] {
             views_[0].push({{"x", payload}}).wait();
           });
  }

 private:
  double tasks_per_s(const std::function<client::AsyncResult(std::size_t)>& send) {
    const Instant start = Clock::now();
    std::deque<client::AsyncResult> window;
    for (std::size_t i = 0; i < options_.tasks; ++i) {
      if (window.size() == options_.window) {
        window.front().wait();
        window.pop_front();
      }
      window.push_back(send(i));
    }
    for (const client::AsyncResult& result : window) result.wait();
    return static_cast<double>(options_.tasks) /
           std::chrono::duration<double>(Clock::now() - start).count();
  }

  static double median_us(int count, const std::function<void()>& run) {
    std::vector<double> waits;
    for (int i = 0; i < count; ++i) {
      const Instant start = Clock::now();
      run();
      waits.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    return median(waits);
  }

  const Options& options_;
  Setup setup_;
  client::Client client_;
  std::vector<client::DirectView> views_;
  const client::Function no_op_ = client::Function::source("lambda: None");
};

const std::vector<Measurement<Subject>> measurements{
    {"direct_tasks_per_s", &Subject::direct_tasks_per_s},
    {"balanced_tasks_per_s", &Subject::balanced_tasks_per_s},
    {"round_trip_us", &Subject::round_trip_us},
    {"all_engines_us", &Subject::all_engines_us},
    {"payload_gb_per_s", &Subject::payload_gb_per_s},
};

Json compare(const Options& options) {
  std::map<std::string, std::unique_ptr<Subject>> subjects;
  const auto setup = [&](const char* name, const std::string& controller,
                         std::vector<std::string> extra, const std::string& python_engine) {
    return SetupOptions{std::filesystem::path(options.folder) / name, controller,
                        options.controller_options(std::move(extra)), options.engines,
                        python_engine};
  };
  subjects["raw"] = std::make_unique<RawSubject>(options, setup("raw", "", {}, ""));
  subjects["echo"] =
      std::make_unique<ClientSubject>(options, setup("echo", options.controller, {}, ""));
  subjects["echo_hwm_0"] = std::make_unique<ClientSubject>(
      options, setup("echo_hwm_0", options.controller, {"--hwm=0"}, ""));
  if (!options.python_engine.empty()) {
    subjects["python"] = std::make_unique<ClientSubject>(
        options, setup("python", options.controller, {}, options.python_engine));
    subjects["python_hwm_0"] = std::make_unique<ClientSubject>(
        options, setup("python_hwm_0", options.controller, {"--hwm=0"}, options.python_engine));
  }
  return measure_in_turn(subjects, measurements, options.repeats, options.only);
}

void print_table(const Json& results) {
  std::printf("%-22s", "");
  for (const auto& [name, figures] : results.items())
    std::printf(" %13s %6s", name.c_str(), "ratio");
  std::printf("\n");
  for (const auto& [figure, raw] : results.at("raw").items()) {
    std::printf("%-22s", figure.c_str());
    for (const auto& [name, figures] : results.items())
      std::printf(" %13.2f %6.2f", figures.at(figure).get<double>(),
                  figures.at(figure).get<double>() / raw.get<double>());
    std::printf("\n");
  }
}

void run_bench(const Options& options) {
  const Json results = compare(options);
  print_table(results);
  options.write(results);
}

}  // namespace
}  // namespace px::bench

int main(int argc, char** argv) {
  px::bench::Options options;
  px::bench::BenchProgram program{
      "client_bench", "Measures the C++ client through pxcontroller beside a raw ZeroMQ relay",
      options};
  CLI::App& app = program.app();
  app.add_option("--python-engine", options.python_engine,
                 "pxengine (default: echo engines alone)");
  app.add_option("--payload-mib", options.payload_mib, "Large payload")->capture_default_str();
  return program.run(argc, argv, [&] { px::bench::run_bench(options); });
}
