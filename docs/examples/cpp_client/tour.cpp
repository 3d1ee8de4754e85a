// A tour of the C++ client: start a cluster by `pxcluster start -n 4 --daemonize`, then run this.

#include <polyxeus/client.hpp>

#include <iostream>
#include <numeric>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

/// Arrays travel without conversion: they are NumPy arrays on the engines, std::vector here.
void scatter_compute_gather(const px::DirectView& view) {
  std::vector<double> x(1000);
  std::iota(x.begin(), x.end(), 0.0);
  view.scatter("x", px::AnyArray::adopt(x)).get();
  view.execute("y = x**2").get();
  const auto y = px::as<std::vector<double>>(view.gather("y").get_joined());
  std::cout << "y has " << y.size() << " elements, the last is " << y.back() << "\n";
}

/// A function that the engines have, one that is sent as source text, and its results.
void call_functions(const px::DirectView& view) {
  for (const px::Value& pid : view.call("os.getpid").get())
    std::cout << "an engine has the process id " << px::as<int>(pid) << "\n";
  const auto scaled = view["x"].get();
  std::cout << "engine 0 holds " << px::describe_kind(scaled.front()) << "\n";
}

/// Many small tasks on the engines that are free; they are sent in blocks.
void map_items(const px::Client& client) {
  px::Json items = px::Json::array();
  for (int i = 0; i < 100'000; ++i) items.push_back(i);
  const auto squares = client.balanced().map(px::Function::source("lambda n: n * n"), {items});
  const auto sum = px::as<std::vector<std::int64_t>>(squares.get_joined());
  std::cout << "the last square is " << sum.back() << "\n";
}

/// A result has the text that the engine printed; an exception on the engine is thrown here.
void output_and_errors(const px::DirectView& view) {
  const px::AsyncResult cell = view.execute("import os; print('hello from', os.getpid())");
  cell.wait_for_output();
  for (std::size_t i = 0; i < cell.size(); ++i)
    std::cout << "[" << cell.info(i).sent.engine->value << "] " << cell.stdout_text(i);
  try {
    view.execute("1 / 0").get();
  } catch (const px::ClientError& error) {
    std::cout << "as expected: " << error.what() << "\n";
  }
}

}  // namespace

int main() try {
  const px::Client client = px::Client::connect();
  client.wait_for_engines(1, 30s);
  const px::DirectView view = client.all();
  std::cout << client.ids().size() << " engines\n";
  scatter_compute_gather(view);
  call_functions(view);
  map_items(client);
  output_and_errors(view);
  return 0;
} catch (const px::ClientError& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
