#include <gtest/gtest.h>

#include <map>
#include <set>

#include "program/python_choice.hpp"

namespace px::program {
namespace {

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string sources(const std::vector<PythonCandidate>& candidates) {
  std::string line;
  for (const PythonCandidate& each : candidates)
    line += (line.empty() ? "" : ", ") + each.path + " by " + each.source;
  return line;
}

auto installed(std::set<std::string> paths) {
  return [paths = std::move(paths)](const std::string& path) { return paths.contains(path); };
}

TEST(PythonChoice, TheUsersEnvironmentComesBeforeTheSystem) {
  const auto candidates = python_candidates(
      "",
      variables({{"VIRTUAL_ENV", "/venv"}, {"CONDA_PREFIX", "/conda"}, {"PATH", "/a:/usr/bin"}}),
      "/opt/bin",
      installed(
          {"/venv/bin/python", "/conda/bin/python3", "/opt/bin/python3", "/usr/bin/python3"}));
  EXPECT_EQ(sources(candidates),
            "/venv/bin/python by $VIRTUAL_ENV, /conda/bin/python3 by $CONDA_PREFIX, "
            "/opt/bin/python3 by the folder of this program, /usr/bin/python3 by $PATH");
}

TEST(PythonChoice, TheOptionIsTheOnlyCandidate) {
  const Environment environment = variables({{"VIRTUAL_ENV", "/venv"}, {"PATH", "/usr/bin"}});
  const auto is_program = installed({"/venv/bin/python", "/usr/bin/python3.12"});
  EXPECT_EQ(sources(python_candidates("/my/python", environment, "", is_program)),
            "/my/python by --python");
  EXPECT_EQ(sources(python_candidates("python3.12", environment, "", is_program)),
            "/usr/bin/python3.12 by --python");
}

TEST(PythonChoice, TheFirstThatHasPolyxeusIsTaken) {
  const std::vector<PythonCandidate> candidates{{"/a/python", "$VIRTUAL_ENV"},
                                                {"/b/python", "$PATH"}};
  const auto chosen = choose_python(
      candidates, [](const PythonCandidate& each) { return each.path == "/b/python"; });
  EXPECT_EQ(*chosen, "/b/python");
}

TEST(PythonChoice, TheErrorNamesWhatWasTriedAndTheCure) {
  const auto none = [](const PythonCandidate&) { return false; };
  const std::string what = choose_python({{"/a/python", "$VIRTUAL_ENV"}}, none).error().what;
  EXPECT_NE(what.find("/a/python ($VIRTUAL_ENV)"), std::string::npos);
  EXPECT_NE(what.find("`/a/python -m pip install ./polyxeus-*.whl`"), std::string::npos);
  EXPECT_NE(choose_python({}, none).error().what.find("`pip install ./polyxeus-*.whl`"),
            std::string::npos);
}

}  // namespace
}  // namespace px::program
