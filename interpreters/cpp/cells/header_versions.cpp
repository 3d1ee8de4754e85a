#include "interpreters/cpp/cells/header_versions.hpp"

#include <algorithm>
#include <regex>

#include "interpreters/cpp/cells/code_mask.hpp"

namespace px::cpp {
namespace {

constexpr std::string_view version_begin = " (version ";

using Includes = std::map<std::string, std::set<std::string>>;
using IsSo = std::function<bool(const std::string& header)>;
using Answers = std::map<std::string, bool>;

/// Whether a header, or any that it includes, is so; each is asked for once.
bool any_is(const std::string& header, const Includes& includes, const IsSo& is_so,
            Answers& answers) {
  const auto [answer, is_new] = answers.emplace(header, false);  // also ends a circle
  if (!is_new) return answer->second;
  bool found = is_so(header);
  if (const auto own = includes.find(header); !found && own != includes.end())
    found = std::any_of(own->second.begin(), own->second.end(), [&](const std::string& each) {
      return any_is(each, includes, is_so, answers);
    });
  return answers[header] = found;
}

/// Files as they are now, each read once.
class Texts {
 public:
  explicit Texts(const HeaderVersions::ReadFile& read_file) : read_file_(read_file) {}
  const std::optional<std::string>& of(const std::string& path) {
    const auto known = texts_.find(path);
    return known != texts_.end() ? known->second
                                 : texts_.emplace(path, read_file_(path)).first->second;
  }

 private:
  const HeaderVersions::ReadFile& read_file_;
  std::map<std::string, std::optional<std::string>> texts_;
};

/// Comments become blanks.
std::string without_comments(std::string code) {
  const std::string masked = mask_code(code).text;  // directives stand there as '#'
  for (std::size_t at = 0; at < std::min(code.size(), masked.size()); ++at)
    if (masked[at] == ' ') code[at] = ' ';
  return code;
}

}  // namespace

std::string version_path(const std::string& header, int version) {
  return header + std::string(version_begin) + std::to_string(version) + ")";
}

std::string header_of_version(const std::string& path) {
  const std::size_t begin = path.rfind(version_begin);
  return path.ends_with(')') ? path.substr(0, begin) : path;
}

std::size_t stamp_of_text(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

bool has_include_guard(const std::string& text) {
  static const std::regex once(R"([ \t]*#[ \t]*pragma[ \t]+once\b.*)");
  static const std::regex guard(
      R"(\s*#[ \t]*if(?:ndef[ \t]+|[ \t]*![ \t]*defined[ \t]*\(?[ \t]*)(\w+)[^\n]*)"
      R"(\n\s*#[ \t]*define[ \t]+(\w+))");
  const std::string code = without_comments(text);
  for (std::size_t line = 0; line < code.size();) {
    const std::size_t end = std::min(code.find('\n', line), code.size());
    if (std::regex_match(code.substr(line, end - line), once)) return true;
    line = end + 1;
  }
  std::smatch found;
  return std::regex_search(code, found, guard, std::regex_constants::match_continuous) &&
         found[1] == found[2];
}

std::map<std::string, NewerHeader> HeaderVersions::newer(const std::vector<Inclusion>& inclusions,
                                                         const ReadFile& read_file) const {
  Includes of_cell, all;
  std::map<std::string, std::size_t> stamps;  // of what is compiled, or read for this cell
  for (const auto& [header, known] : headers_) {
    all[header] = known.includes;
    stamps[header] = known.stamp;
  }
  for (const Inclusion& each : inclusions) {
    if (header_of_version(each.path) == each.path) stamps.emplace(each.path, each.stamp);
    all[header_of_version(each.in)].insert(header_of_version(each.path));
    of_cell[each.in].insert(each.path);
  }
  Texts texts(read_file);
  Answers about_change, about_all;
  const auto differs = [&](const std::string& header) {
    const auto stamp = stamps.find(header);
    const auto& text = texts.of(header);
    return text && stamp != stamps.end() && stamp_of_text(*text) != stamp->second;
  };
  const auto must_be_made = [&](const std::string& header) {
    if (any_is(header, all, differs, about_change)) return true;
    const auto& text = texts.of(header);
    return headers_.count(header) > 0 && text && !has_include_guard(*text);
  };
  const auto is_newer = [&](const std::string& path) {
    if (header_of_version(path) != path) return false;  // named already
    const auto known = headers_.find(path);
    return must_be_made(path) || (known != headers_.end() && !known->second.version.empty());
  };
  std::map<std::string, NewerHeader> result;
  for (const Inclusion& each : inclusions) {
    if (header_of_version(each.path) != each.path || result.count(each.path) > 0) continue;
    if (!any_is(each.path, of_cell, is_newer, about_all)) continue;
    NewerHeader newer{{}, any_is(each.path, all, differs, about_change)};
    if (const auto known = headers_.find(each.path);
        known != headers_.end() && !must_be_made(each.path))
      newer.version = known->second.version;
    result.emplace(each.path, std::move(newer));
  }
  return result;
}

void HeaderVersions::note(const std::vector<Inclusion>& inclusions,
                          const std::map<std::string, std::size_t>& made) {
  for (const auto& [version, stamp] : made) {
    KnownHeader& known = headers_[header_of_version(version)];
    known.stamp = stamp;
    known.version = version;
    known.includes.clear();
  }
  for (const Inclusion& each : inclusions) {
    const std::string header = header_of_version(each.path);
    const auto [known, is_new] = headers_.try_emplace(header);
    if (is_new) known->second.stamp = each.stamp;
    if (!each.in.empty()) headers_[header_of_version(each.in)].includes.insert(header);
  }
}

}  // namespace px::cpp
