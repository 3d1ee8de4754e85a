// --targets as somebody types it, on any set of engines.

#include "tests/fuzz/input.hpp"

#include <algorithm>

#include "client/targets.hpp"

using namespace px;
using namespace px::client;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input{data, size};
  std::vector<EngineId> present;
  int id = 0;
  for (std::uint8_t gaps = input.byte(); gaps != 0; gaps /= 4)
    present.push_back(EngineId{id += 1 + gaps % 4});
  const Result<Targets> targets = Targets::parse(input.rest());
  if (!targets) return 0;
  const auto ids = targets->resolve(present);
  if (!ids) return 0;
  for (const EngineId found : *ids)
    check(std::binary_search(present.begin(), present.end(), found));
  return 0;
}
