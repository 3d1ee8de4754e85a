#include "magics/magic_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/program/typos.hpp"

namespace px::magics {
namespace {

MagicOptions options(Magic magic, std::string_view line) {
  auto read = read_options(magic, line);
  EXPECT_TRUE(read) << (read ? "" : read.error().what);
  return read ? *read : MagicOptions{};
}

std::string problem(Magic magic, std::string_view line) {
  const auto read = read_options(magic, line);
  EXPECT_FALSE(read) << line;
  return read ? "" : read.error().what;
}

/// The sentence without the usage below it.
std::string sentence(Magic magic, std::string_view line) {
  const std::string text = problem(magic, line);
  return text.substr(0, text.find('\n'));
}

TEST(MagicOptions, AnEmptyLineSaysNothing) {
  const MagicOptions read = options(Magic::px, "  ");
  EXPECT_FALSE(read.targets);
  EXPECT_FALSE(read.block);
  EXPECT_FALSE(read.stream);
  EXPECT_FALSE(read.group_outputs);
  EXPECT_EQ(read.save_name, "");
}

TEST(MagicOptions, TargetsComeInEverySpelling) {
  for (const char* line :
       {"-t 0:4", "-t0:4", "--targets 0:4", "--targets=0:4", "--tar 0:4", "-t '0:4'", "-t=0:4"})
    EXPECT_EQ(options(Magic::px, line).targets, "0:4") << line;
}

TEST(MagicOptions, ANegativeTargetIsAValueNotAnOption) {
  EXPECT_EQ(options(Magic::px, "-t -1").targets, "-1");
  EXPECT_EQ(options(Magic::px, "-t -2:").targets, "-2:");
  EXPECT_EQ(options(Magic::px, "--targets ::2").targets, "::2");
}

TEST(MagicOptions, QuotesHoldAListTogether) {
  EXPECT_EQ(options(Magic::px, "-t \"[0, 2]\" --block").targets, "[0, 2]");
}

TEST(MagicOptions, BlockAndNoblockTheLastOneCounts) {
  EXPECT_EQ(options(Magic::px, "-b").block, true);
  EXPECT_EQ(options(Magic::px, "--block").block, true);
  EXPECT_EQ(options(Magic::px, "-a").block, false);
  EXPECT_EQ(options(Magic::px, "--noblock").block, false);
  EXPECT_EQ(options(Magic::px, "--block --noblock").block, false);
}

TEST(MagicOptions, FlagsOfTheOutput) {
  EXPECT_EQ(options(Magic::px, "--stream").stream, true);
  EXPECT_EQ(options(Magic::px, "--no-stream").stream, false);
  EXPECT_EQ(options(Magic::px, "--verbose").verbose, true);
  EXPECT_EQ(options(Magic::px, "--no-verbose").verbose, false);
  EXPECT_EQ(options(Magic::px, "--fold").fold, true);
  EXPECT_EQ(options(Magic::px, "--no-fold").fold, false);
  EXPECT_TRUE(options(Magic::px, "--local").is_local);
  EXPECT_EQ(options(Magic::px, "--max-output 100").max_output, 100U);
  EXPECT_EQ(options(Magic::px, "--max-output all").max_output, no_max_output);
  EXPECT_EQ(options(Magic::px, "--max-output auto").max_output, automatic_max_output);
}

TEST(MagicOptions, ProgressAfterTakesFractionsAndMinusOne) {
  EXPECT_EQ(options(Magic::px, "--progress-after 0.5").progress_after, 0.5);
  EXPECT_EQ(options(Magic::px, "--progress-after -1").progress_after, -1);
  EXPECT_EQ(options(Magic::px, "--progress-after=0").progress_after, 0);
}

TEST(MagicOptions, ALanguageChoosesAmongTheTargets) {
  for (const Magic magic : {Magic::px, Magic::pxconfig}) {
    EXPECT_EQ(options(magic, "--language cpp").speakers, LanguageFilter::cpp);
    EXPECT_EQ(options(magic, "--language=python").speakers, LanguageFilter::python);
    EXPECT_EQ(options(magic, "--language=all").speakers, LanguageFilter::all);
    EXPECT_EQ(options(magic, "").speakers, std::nullopt);
  }
  EXPECT_EQ(options(Magic::pxpush, "x --language=cpp").speakers, LanguageFilter::cpp);
}

TEST(MagicOptions, ACellIsInterruptedAfterSecondsOrNever) {
  EXPECT_EQ(options(Magic::px, "--interrupt-after 2.5").interrupt_after, 2.5);
  EXPECT_EQ(options(Magic::pxconfig, "--interrupt-after=never").interrupt_after, 0);
  EXPECT_EQ(options(Magic::px, "").interrupt_after, std::nullopt);
  for (const std::string value : {"soon", "-1", "0", "nan"})
    EXPECT_EQ(sentence(Magic::px, "--interrupt-after=" + value),
              "%%px: --interrupt-after: '" + value +
                  "' is not a number of seconds above 0 (never: no limit)");
}

TEST(MagicOptions, KeepLastCountsCheckpoints) {
  EXPECT_EQ(options(Magic::pxcheckpoint, "c --keep-last 3").keep_last, 3);
  EXPECT_EQ(options(Magic::pxcheckpoint, "c --keep-last=all").keep_last, 0);
  EXPECT_EQ(sentence(Magic::pxcheckpoint, "c --keep-last 0"),
            "%pxcheckpoint: --keep-last: '0' is not a number of checkpoints from 1 on (all: no "
            "limit)");
}

TEST(MagicOptions, OldSpellingsWorkAndWarn) {
  const MagicOptions timed = options(Magic::px, "--timeout 2.5");
  EXPECT_EQ(timed.interrupt_after, 2.5);
  EXPECT_EQ(timed.warnings,
            std::vector<std::string>{"--timeout is an old spelling; write --interrupt-after"});
  EXPECT_EQ(options(Magic::pxconfig, "--timeout=0").interrupt_after, 0);
  const MagicOptions kept = options(Magic::pxcheckpoint, "c --keep=2");
  EXPECT_EQ(kept.keep_last, 2);
  EXPECT_EQ(kept.warnings,
            std::vector<std::string>{"--keep is an old spelling; write --keep-last"});
  EXPECT_EQ(options(Magic::pxcheckpoint, "c --keep 0").keep_last, 0);
  EXPECT_EQ(usage(Magic::px).find("--timeout"), std::string::npos);
  EXPECT_EQ(sentence(Magic::pxwhere, "--timeout 3"), "%pxwhere: unknown option '--timeout'");
}

TEST(MagicOptions, ASignalIsANameOrANumber) {
  EXPECT_EQ(options(Magic::px, "--signal-on-interrupt SIGKILL").signal, Json("SIGKILL"));
  EXPECT_EQ(options(Magic::px, "--signal-on-interrupt 9").signal, Json(9));
  EXPECT_EQ(options(Magic::px, "--signal-on-interrupt=0").signal, Json(0));
}

TEST(MagicOptions, GroupingsAndTheirShortForms) {
  EXPECT_EQ(options(Magic::px, "--group-outputs=engine").group_outputs, Grouping::engine);
  EXPECT_EQ(options(Magic::px, "--group-outputs type").group_outputs, Grouping::type);
  EXPECT_EQ(options(Magic::px, "-e").group_outputs, Grouping::engine);
  EXPECT_EQ(options(Magic::pxresult, "-r").group_outputs, Grouping::order);
}

TEST(MagicOptions, OutNamesAVariable) {
  EXPECT_EQ(options(Magic::px, "-o ar").save_name, "ar");
  EXPECT_EQ(options(Magic::pxresult, "--out=ar").save_name, "ar");
  EXPECT_EQ(options(Magic::px, "-o größe").save_name, "größe");
  EXPECT_EQ(sentence(Magic::px, "-o 2x"), "%%px: --out: '2x' cannot be the name of a variable");
}

TEST(MagicOptions, AnUnknownOptionIsNamedAndTheUsageShown) {
  const std::string text = problem(Magic::px, "--blok");
  EXPECT_EQ(
      text.find("%%px: unknown option '--blok'; did you mean --block?\nusage: %%px [options]"), 0U)
      << text;
  EXPECT_NE(text.find("--signal-on-interrupt SIGNAL"), std::string::npos);
  EXPECT_EQ(sentence(Magic::px, "-x"), "%%px: unknown option '-x'");
  EXPECT_EQ(sentence(Magic::px, "--noblok"),
            "%%px: unknown option '--noblok'; did you mean --noblock?");
  EXPECT_EQ(
      sentence(Magic::px, "noblock"),
      "%%px: 'noblock' is not an option; code begins on the next line; did you mean --noblock?");
  EXPECT_EQ(sentence(Magic::px, "-verbose"), "%%px: unknown option '-v'; did you mean --verbose?");
}

TEST(MagicOptions, EachIsSuggestedForItsMisspellings) {
  int count = 0;
  for (const Magic magic :
       {Magic::px, Magic::pxconfig, Magic::pxresult, Magic::pxpush, Magic::pxpull, Magic::pxscatter,
        Magic::pxgather, Magic::pxwhere, Magic::pxstacks}) {
    const std::string text = usage(magic);
    std::vector<std::string> names;
    const std::regex name_pattern("\n  (?:-\\w, )?(--[a-z-]+)");
    for (std::sregex_iterator at(text.begin(), text.end(), name_pattern), end; at != end; ++at)
      names.push_back((*at)[1]);
    for (const std::string& name : names)
      for (const std::string& wrong : program::misspellings(name)) {
        // The beginning of an option stands for it.
        if (std::any_of(names.begin(), names.end(),
                        [&](const std::string& each) { return each.starts_with(wrong); }))
          continue;
        ++count;
        const std::string said = sentence(magic, wrong);
        if (said.find("did you mean " + name + "?") != std::string::npos) continue;
        const std::size_t at = said.find("did you mean ");
        ASSERT_NE(at, std::string::npos) << said << " for " << name;
        const std::string meant = said.substr(at + 13, said.size() - at - 14);
        EXPECT_EQ(edit_distance(wrong, meant), 1U) << said << " for " << name;
      }
  }
  EXPECT_GT(count, 150);
}

TEST(MagicOptions, AnAmbiguousShorteningIsExplained) {
  EXPECT_EQ(sentence(Magic::px, "--no"),
            "%%px: '--no' is ambiguous: --noblock or --no-verbose or --no-stream or --no-fold");
}

TEST(MagicOptions, AMissingOrWrongValueIsExplained) {
  EXPECT_EQ(sentence(Magic::px, "--targets"), "%%px: --targets needs a value: TARGETS");
  EXPECT_EQ(sentence(Magic::px, "-t --block"), "%%px: --targets needs a value: TARGETS");
  EXPECT_EQ(sentence(Magic::px, "--block=yes"), "%%px: --block takes no value");
  EXPECT_EQ(sentence(Magic::px, "--language ada"),
            "%%px: --language: 'ada' must be python, cpp or all");
  EXPECT_EQ(sentence(Magic::px, "--progress-after soon"),
            "%%px: --progress-after: 'soon' is not a number of seconds");
  EXPECT_EQ(sentence(Magic::px, "--group-outputs=rank"),
            "%%px: --group-outputs: 'rank' must be engine, order or type");
  EXPECT_EQ(
      sentence(Magic::px, "--max-output 0"),
      "%%px: --max-output: '0' is not a number of lines, 'all', or 'auto' (512 KiB of text in "
      "a notebook)");
  EXPECT_NE(sentence(Magic::px, "--signal-on-interrupt SIGNOPE").find("'SIGNOPE' is not a signal"),
            std::string::npos);
  EXPECT_NE(sentence(Magic::px, "-t first").find("'first' is not a list of engines"),
            std::string::npos);
}

TEST(MagicOptions, CodeOnTheLineOfACellIsNotTaken) {
  EXPECT_EQ(sentence(Magic::px, "print(1)"),
            "%%px: 'print(1)' is not an option; code begins on the next line");
}

TEST(MagicOptions, AnOpenQuoteIsExplained) {
  EXPECT_EQ(sentence(Magic::px, "-t '0:4"), "%%px: missing closing quote '");
}

TEST(MagicOptions, EachMagicKnowsItsOwn) {
  EXPECT_EQ(options(Magic::pxconfig, "--profile mpi").profile, "mpi");
  EXPECT_EQ(options(Magic::pxconfig, "--cluster-id=b").cluster_id, "b");
  EXPECT_EQ(sentence(Magic::px, "--profile mpi"), "%%px: unknown option '--profile'");
  EXPECT_EQ(sentence(Magic::pxconfig, "--local"), "%pxconfig: unknown option '--local'");
  EXPECT_EQ(sentence(Magic::pxresult, "--block"), "%pxresult: unknown option '--block'");
}

using Names = std::vector<std::string>;

TEST(MagicOptions, NamesOfVariables) {
  EXPECT_EQ(options(Magic::pxpush, "a b").names, (Names{"a", "b"}));
  EXPECT_EQ(options(Magic::pxpush, "a, b,c").names, (Names{"a", "b", "c"}));
  EXPECT_EQ(options(Magic::pxpull, "a --as x -t 0").names, (Names{"a"}));
  EXPECT_EQ(options(Magic::pxpull, "a --as x -t 0").as, "x");
}

TEST(MagicOptions, AnExpressionIsPulledUnderAnotherName) {
  EXPECT_EQ(options(Magic::pxpull, "sum(a) --as total").names, (Names{"sum(a)"}));
  EXPECT_EQ(options(Magic::pxpull, "'max(a, b)' --as m").names, (Names{"max(a, b)"}));
  EXPECT_EQ(sentence(Magic::pxpull, "sum(a)"),
            "%pxpull: 'sum(a)' is an expression: name the variable with --as");
}

TEST(MagicOptions, NamesThatAreMissingOrTooMany) {
  EXPECT_EQ(sentence(Magic::pxpull, ""), "%pxpull: the name of a variable is missing");
  EXPECT_EQ(sentence(Magic::pxpush, "1a"), "%pxpush: '1a' is not the name of a variable");
  EXPECT_EQ(sentence(Magic::pxpull, "a b --as x"), "%pxpull: --as needs exactly one name, not 2");
  EXPECT_EQ(sentence(Magic::pxscatter, "a b"), "%pxscatter: give exactly one name, not 2");
}

TEST(MagicOptions, TheUsageListsWhatAMagicKnows) {
  const std::string text = usage(Magic::pxgather);
  EXPECT_EQ(text.find("usage: %pxgather [options] NAME\n"), 0U) << text;
  EXPECT_NE(text.find("--as NAME"), std::string::npos);
  EXPECT_EQ(text.find("--stream"), std::string::npos);
}

TEST(MagicOptions, PxtopIsShownOnceOrFollowed) {
  EXPECT_FALSE(options(Magic::pxtop, "").is_once);
  EXPECT_TRUE(options(Magic::pxtop, "-t 0:4 --once").is_once);
  EXPECT_EQ(options(Magic::pxtop, "-t 0:4 --once").targets, "0:4");
  EXPECT_EQ(sentence(Magic::pxtop, "--json"), "%pxtop: unknown option '--json'");
}

}  // namespace
}  // namespace px::magics
