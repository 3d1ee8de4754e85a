// Takes the rates of large arrays of the C++ client in a cluster that runs, for arrays_bench.py:
//   client_arrays CONNECTION_FILE ENGINES MEBIBYTES TRANSFERS
// prints {"push": GB/s, ...}, medians.

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "client/client.hpp"

namespace px::bench {
namespace {

double seconds(const std::function<void()>& action) {
  const Instant began = Clock::now();
  action();
  return std::chrono::duration<double>(Clock::now() - began).count();
}

double median_seconds(int count, const std::function<void()>& action) {
  action();  // what the first one costs more
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back(seconds(action));
  std::nth_element(all.begin(), all.begin() + count / 2, all.end());
  return all[static_cast<std::size_t>(count) / 2];
}

Json rates(const std::string& file, std::size_t engines, std::size_t mebibytes, int transfers) {
  client::Client client = client::Client::connect({.file = file});
  client.wait_for_engines(engines);
  const client::DirectView one = client.direct({client.ids().front()}), all = client.all();
  std::vector<double> numbers(mebibytes << 17);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  const Value array = AnyArray::adopt(std::move(numbers));
  const auto same = client::Function::source("lambda array: array");
  const std::map<std::string, std::function<void()>> actions{
      {"push", [&] { one.push({{"array", array}}).get(); }},
      {"pull", [&] { one.pull("array").get_one(); }},
      {"push_all", [&] { all.push({{"array", array}}).get(); }},
      {"scatter", [&] { all.scatter("part", array).get(); }},
      {"gather", [&] { all.gather("part").get_joined(); }},
      {"call", [&] { one.call(same, {array}).get_one(); }},
  };
  Json figures;
  for (const char* name : {"push", "pull", "push_all", "scatter", "gather", "call"})
    figures[name] = static_cast<double>(mebibytes << 20) / 1e9 /
                    median_seconds(transfers, actions.at(name));
  return figures;
}

}  // namespace
}  // namespace px::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: client_arrays CONNECTION_FILE ENGINES MEBIBYTES TRANSFERS\n";
    return 2;
  }
  try {
    std::cout << px::bench::rates(argv[1], std::strtoul(argv[2], nullptr, 10),
                                  std::strtoul(argv[3], nullptr, 10), std::atoi(argv[4]))
              << std::endl;
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << "client_arrays: " << failure.what() << std::endl;
    return 1;
  }
}
