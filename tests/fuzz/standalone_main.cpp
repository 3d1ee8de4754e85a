// Runs a fuzz target without libFuzzer, for compilers that have none: pseudo-random changes of the
// seeds, the same ones for the same -seed. Takes libFuzzer's options `-runs=N -seed=N -max_len=N`
// and folders of seeds, or single files to replay.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/input.hpp"

namespace {

struct Options {
  std::size_t runs = 20000, seed = 1, max_length = 4096;
  std::vector<std::string> seeds;
};

std::string read(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool take_number(std::string_view argument, std::string_view name, std::size_t& value) {
  if (!argument.starts_with(name)) return false;
  value = std::stoul(std::string(argument.substr(name.size())));
  return true;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (take_number(argument, "-runs=", options.runs) ||
        take_number(argument, "-seed=", options.seed) ||
        take_number(argument, "-max_len=", options.max_length))
      continue;
    if (std::filesystem::is_directory(argument)) {
      for (const auto& entry : std::filesystem::directory_iterator(argument))
        options.seeds.push_back(read(entry.path()));
    } else {
      options.seeds.push_back(read(argument));
    }
  }
  return options;
}

class Mutator {
 public:
  explicit Mutator(const Options& options) : options_(options), random_(options.seed) {}

  std::string next() {
    std::string text = options_.seeds.empty() ? "" : options_.seeds[upto(options_.seeds.size())];
    for (std::size_t changes = upto(8); changes > 0; --changes) change(text);
    if (text.size() > options_.max_length) text.resize(options_.max_length);
    return text;
  }

 private:
  std::size_t upto(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void change(std::string& text) {
    const std::size_t at = upto(text.size() + 1);
    const std::size_t length = upto(std::min<std::size_t>(text.size() - at, 32) + 1);
    switch (upto(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << upto(8)));
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(random_()));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.insert(at, words[upto(std::size(words))]);
        break;
      default:
        splice(text, at);
    }
  }

  void splice(std::string& text, std::size_t at) {
    if (options_.seeds.empty()) return;
    const std::string& other = options_.seeds[upto(options_.seeds.size())];
    text = text.substr(0, at) + other.substr(upto(other.size() + 1));
  }

  static constexpr std::string_view words[] = {
      "{",  "}",    "[",     "]",  "\"",   ":",    ",",    "\\",     "\\u00", "null", "true",
      "-1", "1e99", "99999", "\n", "\xff", "\xdd", "\x80", "msg_id", "$and",  "{}",   "<IDS|MSG>"};
  const Options& options_;
  std::mt19937_64 random_;
};

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  for (const std::string& seed : options.seeds) run(seed);
  Mutator mutator{options};
  for (std::size_t i = 0; i < options.runs; ++i) run(mutator.next());
  std::printf("Done %zu runs\n", options.runs + options.seeds.size());
}
