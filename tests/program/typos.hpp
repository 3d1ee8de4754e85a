#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "wire/nearest_name.hpp"

namespace px::program {

/// What a program that is given some words says: its exit code, nothing where it would go on, and
/// both streams.
struct Answer {
  std::optional<int> code;
  std::string out, err;
};
using Ask = std::function<Answer(const std::vector<std::string>& words)>;

/// Calls parse(argc, argv) and keeps what it prints. `words` begin with the program's name.
template <class Parse>
Answer answer_of(const std::vector<std::string>& words, const Parse& parse) {
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  Answer answer;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  answer.code = parse(static_cast<int>(argv.size()), argv.data());
  answer.out = ::testing::internal::GetCapturedStdout();
  answer.err = ::testing::internal::GetCapturedStderr();
  return answer;
}

/// The options that a help lists: the names of each.
inline std::vector<std::vector<std::string>> options_of_help(const std::string& help) {
  std::vector<std::vector<std::string>> options;
  std::istringstream lines{help};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  -")) continue;
    std::istringstream words{line};
    std::string list;
    words >> list;
    list = std::regex_replace(list, std::regex(R"(\{[^}]*\})"), "");
    std::vector<std::string> names;
    std::istringstream parts{list};
    for (std::string name; std::getline(parts, name, ',');) names.push_back(name);
    options.push_back(std::move(names));
  }
  return options;
}

/// A long name with one letter dropped, doubled, swapped with the next, and replaced; each at
/// another place.
inline std::vector<std::string> misspellings(const std::string& name) {
  const std::size_t count = name.size() - 2;  // letters behind the dashes
  const auto place = [&](std::size_t part) { return 2 + (count - 1) * part / 3; };
  std::vector<std::string> all;
  all.push_back(std::string(name).erase(place(2), 1));
  all.push_back(std::string(name).insert(place(1), 1, name[place(1)]));
  std::string swapped = name;
  std::swap(swapped[place(1)], swapped[std::min(place(1) + 1, name.size() - 1)]);
  all.push_back(swapped);
  std::string replaced = name;
  replaced[place(3)] = replaced[place(3)] == 'q' ? 'x' : 'q';
  all.push_back(replaced);
  return all;
}

/// Misspells each option, but not each of its traits, of the help of `ask(command --help)` in
/// `ways` of four ways, and expects exit code 2 and the option as suggestion. Where another option
/// is as near, that one may be suggested. Returns the number of misspelled words.
/// tried  the names of options of other commands, which are left out; those of this one are added.
inline int expect_suggestions(const Ask& ask, std::vector<std::string> command, int ways,
                              std::set<std::vector<std::string>>& tried) {
  std::vector<std::string> for_help = command;
  for_help.push_back("--help");
  const auto options = options_of_help(ask(for_help).out);
  std::vector<std::string> known;
  for (const auto& names : options) known.insert(known.end(), names.begin(), names.end());
  const auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  int count = 0;
  command.emplace_back();
  for (const auto& names : options) {
    if (!tried.insert(names).second) continue;
    int traits = 0;
    for (const std::string& name : names) {
      if (!name.starts_with("--") || name.size() < 4) continue;
      // Of the classes of ipyparallel that have the same trait one is enough.
      if (name.find('.') != std::string::npos && ++traits > 1) continue;
      const auto all = misspellings(name);
      for (int way = 0; way < ways; ++way) {
        const std::string& wrong = all[(name.size() + static_cast<std::size_t>(way)) % all.size()];
        if (is_known(wrong)) continue;
        ++count;
        command.back() = wrong;
        const Answer answer = ask(command);
        EXPECT_EQ(answer.code, 2) << wrong << answer.err;
        std::smatch found;
        if (!std::regex_search(answer.err, found, std::regex("did you mean (--[^?]+)\\?"))) {
          ADD_FAILURE() << wrong << " for " << name << ": " << answer.err;
          continue;
        }
        const std::string meant = found[1];
        const bool is_same = std::find(names.begin(), names.end(), meant) != names.end();
        EXPECT_TRUE(is_known(meant)) << meant;
        EXPECT_TRUE(is_same || edit_distance(wrong.substr(2), meant.substr(2)) == 1)
            << answer.err << "for " << name;
      }
    }
  }
  return count;
}
inline int expect_suggestions(const Ask& ask, std::vector<std::string> command, int ways = 4) {
  std::set<std::vector<std::string>> tried;
  return expect_suggestions(ask, std::move(command), ways, tried);
}

}  // namespace px::program
