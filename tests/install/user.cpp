// Uses what the client library offers without a cluster.

#include <polyxeus/client.hpp>

#include <iostream>
#include <span>
#include <vector>

namespace {

/// Whether an array and the engines that are meant survive the public types.
bool has_values_and_targets() {
  const px::AnyArray array = px::AnyArray::adopt(std::vector<double>{1, 2, 3});
  const px::Result<px::Targets> targets = px::Targets::parse("1:");
  if (!targets || array.as<double>()->size() != 3) return false;
  const auto ids = targets->resolve({px::EngineId{0}, px::EngineId{1}, px::EngineId{2}});
  return ids && ids->size() == 2 && px::as<std::vector<double>>(px::Value{array}).back() == 3;
}

/// Whether connect() refuses a file that is not there by a ClientError that names it.
bool says_which_file_is_missing() {
  try {
    px::Client::connect({.file = "/nonexistent/client.json"});
  } catch (const px::ClientError& error) {
    return error.kind() == px::ErrorKind::not_found &&
           std::string(error.what()).find("/nonexistent/client.json") != std::string::npos;
  }
  return false;
}

}  // namespace

int main() {
  if (!has_values_and_targets() || !says_which_file_is_missing()) return 1;
  std::cout << "polyxeus " << px::version << " works" << std::endl;
}
