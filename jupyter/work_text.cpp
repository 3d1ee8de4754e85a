#include "jupyter/work_text.hpp"

#include <vector>

#include "interpreters/utf8.hpp"
#include "wire/checked_json.hpp"
#include "wire/rank_names.hpp"

namespace px::jupyter {
namespace {

constexpr std::size_t max_size = 80;

/// The first line that is not blank, without what it is indented by.
std::string first_line(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_first_of("\r\n", begin) - begin);
}

std::string name_of_function(const Json& content) {
  if (const auto title = string_member(content, "title")) return first_line(*title);
  const auto function = content.find("function");
  if (function == content.end() || !function->is_object()) return "";
  for (const char* key : {"name", "reference", "code"})
    if (const auto text = string_member(*function, key)) return first_line(*text);
  return "";
}

std::string describe_function(const Request& request) {
  const std::string& type = request.type();
  const std::string kind = type.substr(0, type.rfind("_request"));
  const Result<Json> content = unpack(request.packer, request.envelope.content);
  if (!content || !content->is_object()) return kind;
  std::string text = type == "execute_request"
                         ? first_line(string_member(*content, "code").value_or(""))
                         : name_of_function(*content);
  if (text.empty()) return kind;
  if (text.size() > max_size) {
    text.resize(max_size - 3);
    text.resize(interpreters::whole_characters(text));
    text += "...";
  }
  return text;
}

}  // namespace

std::string describe_work(const Request& request) {
  std::string text = describe_function(request);
  const std::optional<Json> gang = gang_in(request);
  if (!gang) return text;
  std::vector<Rank> ranks;
  for (const Json& rank : json_member(*gang, "ranks"))
    if (const auto number = read_integer<int>(rank)) ranks.push_back(Rank{*number});
  return ranks.empty() ? text : text + " on " + name_ranks(ranks);
}

}  // namespace px::jupyter
