// What the engines' measures and the dashboard cost the controller, in one run:
//   engines at rest       a cluster with measures and dashboard beside one without, together
//   pages                 balanced tasks without a page and with some open pages, in turn
//   a page that is stuck  the controller's memory under tasks and a page that reads, without and
//                         with such a page
//
//   sight_bench --controller build/release/pxcontroller --json results.json

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

#include "bench/load/setup.hpp"
#include "bench/swarm/swarm_controller.hpp"
#include "bench/swarm/swarm_threads.hpp"
#include "os/descriptor.hpp"
#include "os/private_file.hpp"

namespace px::bench {
namespace {

using namespace std::chrono_literals;

struct SightOptions : BenchOptions {
  std::vector<std::size_t> resting{64, 1000};  ///< Numbers of engines.
  int rest_seconds = 60, stuck_seconds = 25;   ///< The latter: beyond the dashboard's patience.
  std::size_t pages = 20;
};

// ---------------------------------------------------------------- engines that rest

/// One of the clusters that rest side by side.
class RestingCluster {
 public:
  RestingCluster(const SightOptions& options, std::size_t engines, bool has_measures)
      : controller_(options.controller,
                    std::filesystem::path(options.folder) /
                        (std::to_string(engines) + (has_measures ? "-measures" : "-none")),
                    has_measures ? std::vector<std::string>{}
                                 : std::vector<std::string>{"--dashboard=off"}) {
    auto swarm = Swarm::create({.info = controller_.engine_info(),
                                .max_engines = engines,
                                .threads = 1,
                                .tells_measures = has_measures});
    if (!swarm) throw std::runtime_error(swarm.error().what);
    swarm_ = std::move(*swarm);
    for (std::size_t i = 0; i < engines; ++i) swarm_->join(i);
    // Each has answered a ping.
    if (!wait_for([&] { return swarm_->counts().beats >= 2 * engines; }, 180s, short_pause))
      throw std::runtime_error("the engines do not answer heartbeats; see " + options.folder);
  }
  MeasuredProcess& controller() { return controller_.process(); }

 private:
  SwarmController controller_;
  std::unique_ptr<Swarm> swarm_;
};

void compare_at_rest(const SightOptions& options, std::size_t engines, Json& results) {
  const std::string words = std::to_string(engines) + " engines at rest, ";
  std::map<std::string, std::unique_ptr<RestingCluster>> clusters;
  for (const bool has_measures : {false, true})
    clusters[words + (has_measures ? "measures" : "no measures")] =
        std::make_unique<RestingCluster>(options, engines, has_measures);
  std::map<std::string, double> used;
  const Instant began = Clock::now();
  for (const auto& [name, cluster] : clusters)
    used[name] = cluster->controller().processor_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(options.rest_seconds));
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  for (const auto& [name, cluster] : clusters) {
    const double spent = cluster->controller().processor_seconds() - used[name];
    results[name]["controller_percent_of_a_core"] = 100 * spent / seconds;
    results[name]["controller_pss_mb"] = cluster->controller().memory().proportional_mb;
  }
}

// ---------------------------------------------------------------- pages

DashboardAddress dashboard_of(const Setup& setup) {
  const auto text = os::read_file(setup.client_file());
  const auto info = text ? read_client_connection_info(*text) : Error{text.error()};
  if (!info || !info->dashboard) throw std::runtime_error("the controller has no dashboard");
  return *info->dashboard;
}

/// A connection that asks for the stream of snapshots.
os::Descriptor open_page(const DashboardAddress& dashboard) {
  os::Descriptor page{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(dashboard.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string request =
      "GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Polyxeus-Token: " + dashboard.token +
      "\r\n\r\n";
  if (::connect(page.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(page.value(), request.data(), request.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(request.size()))
    throw std::runtime_error("the dashboard cannot be reached");
  return page;
}

/// Bytes that were read; 0: it is closed.
std::size_t read_some(const os::Descriptor& page) {
  static thread_local std::array<char, 1 << 16> unread;
  return static_cast<std::size_t>(
      std::max<ssize_t>(::recv(page.value(), unread.data(), unread.size(), 0), 0));
}

/// Pages that read all that they are sent, in a thread of their own.
class OpenPages {
 public:
  OpenPages(const DashboardAddress& dashboard, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) pages_.push_back(open_page(dashboard));
    thread_ = std::thread([this] { read(); });
  }
  ~OpenPages() {
    is_stopping_ = true;
    thread_.join();
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t lost() const { return lost_; }

 private:
  void read() {
    std::vector<pollfd> waiting;
    for (const os::Descriptor& page : pages_) waiting.push_back({page.value(), POLLIN, 0});
    while (!is_stopping_) {
      if (::poll(waiting.data(), waiting.size(), 100) <= 0) continue;
      for (std::size_t i = 0; i < pages_.size(); ++i) {
        if (waiting[i].revents == 0) continue;
        const std::size_t taken = read_some(pages_[i]);
        bytes_ += taken;
        if (taken > 0) continue;
        waiting[i].fd = -1;
        ++lost_;
      }
    }
  }
  std::vector<os::Descriptor> pages_;
  std::atomic<std::size_t> bytes_ = 0, lost_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

LoadClient::Run run_tasks(const SightOptions& options, Setup& setup, std::size_t count) {
  return setup.client().run({.scheme = LoadClient::Scheme::balanced,
                             .count = count,
                             .window = options.window,
                             .payload_bytes = 200});
}

void compare_pages(const SightOptions& options, Json& results) {
  Setup setup{{.folder = std::filesystem::path(options.folder) / "pages",
               .controller = options.controller,
               .controller_options = options.controller_options({}),
               .engine_count = options.engines}};
  const DashboardAddress dashboard = dashboard_of(setup);
  run_tasks(options, setup, options.tasks);  // warms up
  std::map<std::size_t, std::vector<double>> rates, costs;
  for (int i = 0; i < options.repeats; ++i)
    for (const std::size_t count : {std::size_t{0}, options.pages}) {
      const OpenPages pages{dashboard, count};
      if (!wait_for([&] { return count == 0 || pages.bytes() > 0; }, 10s, short_pause))
        throw std::runtime_error("the pages are told nothing");
      const double used = setup.relay().processor_seconds();
      const auto run = run_tasks(options, setup, options.tasks);
      if (pages.lost() > 0) throw std::runtime_error("pages were dropped");
      rates[count].push_back(run.per_second());
      costs[count].push_back(1e6 * (setup.relay().processor_seconds() - used) /
                             static_cast<double>(run.answered));
    }
  for (const auto& [count, values] : rates) {
    Json& figures = results[count == 0 ? "no page" : "pages"];
    figures["tasks_per_s"] = median(values);
    figures["controller_us_per_task"] = median(costs[count]);
  }
}

// ---------------------------------------------------------------- a page that is stuck

/// The most memory of the controller, in MB, while tasks run.
double peak_under_tasks(const SightOptions& options, Setup& setup) {
  double peak = 0;
  const Instant end = Clock::now() + std::chrono::seconds(options.stuck_seconds);
  while (Clock::now() < end) {
    run_tasks(options, setup, options.tasks / 10);
    peak = std::max(peak, setup.relay().memory().proportional_mb);
  }
  return peak;
}

/// Whether there is an end to what it was sent.
bool is_dropped(const os::Descriptor& page) {
  for (const Instant end = Clock::now() + 5s; Clock::now() < end;) {
    pollfd waiting{page.value(), POLLIN, 0};
    if (::poll(&waiting, 1, 100) > 0 && read_some(page) == 0) return true;
  }
  return false;
}

void compare_stuck_page(const SightOptions& options, Json& results) {
  Setup setup{{.folder = std::filesystem::path(options.folder) / "stuck",
               .controller = options.controller,
               .controller_options = options.controller_options({"--nodb"}),  // records do not grow
               .engine_count = options.engines}};
  const OpenPages read{dashboard_of(setup), 1};  // so that snapshots are made for pages
  peak_under_tasks(options, setup);              // warms up
  results["no stuck page"]["controller_peak_pss_mb"] = peak_under_tasks(options, setup);
  const os::Descriptor page = open_page(dashboard_of(setup));
  results["a stuck page"]["controller_peak_pss_mb"] = peak_under_tasks(options, setup);
  results["a stuck page"]["is_dropped"] = is_dropped(page) ? 1 : 0;
}

void measure(const SightOptions& options) {
  Json results;
  const auto is_wanted = [&](const char* part) {
    return std::string_view(part).find(options.only) != std::string_view::npos;
  };
  if (is_wanted("rest"))
    for (const std::size_t engines : options.resting) compare_at_rest(options, engines, results);
  if (is_wanted("pages")) compare_pages(options, results);
  if (is_wanted("stuck")) compare_stuck_page(options, results);
  for (const auto& [name, figures] : results.items())
    for (const auto& [figure, value] : figures.items())
      std::printf("%-36s %-32s %10.2f\n", name.c_str(), figure.c_str(), value.get<double>());
  options.write(results);
}

}  // namespace
}  // namespace px::bench

int main(int argc, char** argv) {
  px::bench::SightOptions options;
  options.tasks = 200000;
  px::bench::BenchProgram program{
      "sight_bench", "Measures what the engines' measures and the dashboard cost the controller",
      options};
  program.app()
      .add_option("--resting", options.resting, "How many engines rest, one or more numbers")
      ->capture_default_str();
  program.app()
      .add_option("--rest-seconds", options.rest_seconds, "How long the controllers are watched")
      ->capture_default_str();
  program.app()
      .add_option("--stuck-seconds", options.stuck_seconds, "How long a page reads nothing")
      ->capture_default_str();
  program.app()
      .add_option("--pages", options.pages, "Open pages while tasks run")
      ->capture_default_str();
  return program.run(argc, argv, [&] { px::bench::measure(options); });
}
