#include "program/value_checks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "net/discovery/address.hpp"
#include "net/ssh/tunnel_plan.hpp"
#include "os/command_words.hpp"
#include "os/folders.hpp"
#include "wire/language_plan.hpp"
#include "wire/nearest_name.hpp"
#include "wire/text.hpp"

namespace px::program {
namespace {

std::optional<double> read_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

/// Empty: it can be read, and is a folder or not, as is wanted.
std::string why_unreadable(const std::filesystem::path& path, bool is_folder_wanted) {
  if (::access(path.c_str(), is_folder_wanted ? X_OK : R_OK) != 0)
    return std::generic_category().message(errno);
  std::error_code error;
  if (std::filesystem::is_directory(path, error) == is_folder_wanted) return "";
  return is_folder_wanted ? "it is a file" : "it is a folder";
}

bool is_host(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c >= 0x80 || std::string_view(".-_:%[]").find(static_cast<char>(c)) !=
                                               std::string_view::npos;
  });
}

/// Whether a socket may listen at it: *, an address, or the name of a network interface.
bool is_own_address(const std::string& text) {
  if (net::is_wildcard(text) || net::is_ip_address(net::ip_of_interface("tcp://" + text)))
    return true;
  constexpr std::size_t longest_interface_name = 15;
  const bool has_letter = std::any_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalpha(c) != 0; });
  return has_letter && is_host(text) && text.size() <= longest_interface_name;
}

/// Python has letters of all scripts.
bool is_variable_name(const std::string& text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '_' || c >= 0x80;
         });
}

}  // namespace

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

ValueCheck whole_number(const std::string& what, long long low, long long high) {
  const bool has_end = high != std::numeric_limits<long long>::max();
  const std::string range = has_end ? " from " + std::to_string(low) + " to " + std::to_string(high)
                                    : " from " + std::to_string(low) + " on";
  return [=](const std::string& text) {
    const auto number = read_whole_number<long long>(text);
    if (number && *number >= low && *number <= high) return std::string();
    return "takes a whole number" + what + range + ", not '" + text + "'";
  };
}

ValueCheck number_of(const std::string& unit, double most) {
  return [=](const std::string& text) {
    const auto number = read_number(text);
    if (number && *number > most)
      return "takes a number of " + unit + " up to " +
             std::to_string(static_cast<long long>(most)) + ", not '" + text + "'";
    if (number && *number >= 0) return std::string();
    return "takes a number of " + unit + ", not '" + text + "'";
  };
}

std::optional<double> read_seconds(const std::string& text) {
  constexpr std::string_view units = "smhd";
  constexpr std::array<double, units.size()> seconds_of{1, 60, 3600, 86400};
  const std::size_t unit = text.empty() ? units.npos : units.find(text.back());
  if (unit == units.npos) return std::nullopt;
  const auto number = read_number(text.substr(0, text.size() - 1));
  if (!number || *number < 0 || *number * seconds_of[unit] > 1e9) return std::nullopt;
  return *number * seconds_of[unit];
}

ValueCheck one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) {
    const std::string word = in_small_letters(text);
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
    std::string list;
    for (std::size_t i = 0; i < words.size(); ++i)
      list += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return "takes " + list + ", not '" + text + "'" + did_you_mean(word, words);
  };
}

ValueCheck existing_file() {
  static const std::string here;
  return existing_file(here);
}

ValueCheck existing_file(const std::string& folder) {
  return [&folder](const std::string& text) {
    const std::filesystem::path path = os::expand_home(folder) / os::expand_home(text);
    const std::string why = text.empty() ? "" : why_unreadable(path, false);
    return why.empty() ? why : "takes a file that can be read, not '" + text + "': " + why;
  };
}

ValueCheck existing_folder() {
  return [](const std::string& text) {
    const std::string why = text.empty() ? "" : why_unreadable(text, true);
    return why.empty() ? why : "takes a folder that exists, not '" + text + "': " + why;
  };
}

ValueCheck folder_to_make() {
  return [](const std::string& text) {
    if (text.empty()) return std::string();
    std::error_code error;
    std::filesystem::path above = std::filesystem::absolute(os::expand_home(text), error);
    while (above.has_relative_path() && !std::filesystem::exists(above, error))
      above = above.parent_path();
    if (std::filesystem::is_directory(above, error)) return std::string();
    return "takes a folder, but '" + text + "' cannot be one: " + above.string() + " is a file";
  };
}

ValueCheck file_to_write() {
  return [](const std::string& text) {
    const auto folder = std::filesystem::path(text).parent_path();
    const std::string why = folder.empty() ? "" : why_unreadable(folder, true);
    return why.empty() ? why : "takes a file that can be written, not '" + text + "': " + why;
  };
}

ValueCheck host() {
  return [](const std::string& text) {
    return is_host(text) ? "" : "takes the name or the address of a host, not '" + text + "'";
  };
}

ValueCheck own_addresses() {
  return [](const std::string& text) {
    for (const std::string& part : split_at_commas(text))
      if (!part.empty() && !is_own_address(part))
        return "takes addresses of this host, or * for all, not '" + part + "'";
    return std::string();
  };
}

ValueCheck ssh_server() {
  return [](const std::string& text) {
    return text.empty() || net::SshServer::read(text)
               ? ""
               : "takes [user@]host[:port], not '" + text + "'";
  };
}

ValueCheck language_plan() {
  return [](const std::string& text) {
    return text.empty() || LanguagePlan::parse(text)
               ? ""
               : "takes python, cpp, or both by rank as in python:2,cpp:2, not '" + text + "'";
  };
}

ValueCheck variable_name() {
  return [](const std::string& text) {
    return is_variable_name(text) ? "" : "takes the name of a variable, not '" + text + "'";
  };
}

ValueCheck variable_names() {
  return [](const std::string& text) {
    for (const std::string& name : split_at_commas(text))
      if (!is_variable_name(name))
        return "takes names of variables as in a,b, not '" + name + "'";
    return std::string();
  };
}

ValueCheck shell_words() {
  return [](const std::string& text) {
    return os::split_words(text).open_quote == 0
               ? ""
               : "takes words in the syntax of a shell; in '" + text + "', a quote is not closed";
  };
}

}  // namespace px::program
