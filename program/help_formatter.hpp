#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace px::program {

/// Wraps the lines of a help text that are longer than `width`, at blanks. Continuation lines are
/// indented to the second column: the description of an option continues below its beginning.
std::string wrap_help(std::string_view text, std::size_t width);

/// The help of all programs: lines of at most 100 columns. The names that options have in
/// ipyparallel's programs, such as --Cluster.n, are shown only if there is no other long name; they
/// always work.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
};

}  // namespace px::program
