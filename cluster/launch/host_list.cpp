#include "cluster/launch/host_list.hpp"

#include <algorithm>

#include "wire/checked_json.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

constexpr int max_slots = 65536;
constexpr std::size_t max_hosts = 4096;

Error unreadable(std::string_view word, const std::string& why) {
  return Error{ErrorKind::bad_input, "invalid host '" + std::string(word) + "': " + why};
}

std::optional<int> read_number(std::string_view text, int most) {
  const std::optional<int> value = read_whole_number(text);
  return value && *value >= 0 && *value <= most ? value : std::nullopt;
}

/// Letters that ssh and a shell take as a part of a name, never as an option or as syntax.
bool is_host_name(std::string_view text) {
  if (text.empty() || text.front() == '-') return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("._-@:%+").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

/// Cuts at commas and blanks, but not inside of [ ].
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (depth <= 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

std::string padded(int number, std::size_t width) {
  std::string text = std::to_string(number);
  return std::string(width > text.size() ? width - text.size() : 0, '0') + text;
}

/// The numbers of "1-3,7,09-11", as they were written.
Result<std::vector<std::string>> expand_range(std::string_view word, std::string_view range) {
  std::vector<std::string> numbers;
  for (const std::string& part : split_words(range)) {
    const std::size_t dash = part.find('-');
    const std::string first = part.substr(0, dash);
    const auto from = read_number(first, 1'000'000);
    const auto to =
        dash == std::string::npos ? from : read_number(part.substr(dash + 1), 1'000'000);
    if (!from || !to || *to < *from || *to - *from >= static_cast<int>(max_hosts))
      return unreadable(word, "'" + part + "' is not a range of numbers");
    for (int number = *from; number <= *to; ++number)
      numbers.push_back(padded(number, first.size()));
  }
  return numbers;
}

/// "node[1-2].site" -> "node1.site", "node2.site"; a name without a range stands for itself.
Result<std::vector<std::string>> expand_name(std::string_view word, const std::string& name) {
  const std::size_t open = name.find('[');
  if (open == std::string::npos) return std::vector<std::string>{name};
  const std::size_t close = name.find(']', open);
  if (close == std::string::npos) return unreadable(word, "the [ has no ]");
  const std::string inside = name.substr(open + 1, close - open - 1);
  if (open == 0 && inside.find(':') != std::string::npos)  // an address of IPv6
    return std::vector<std::string>{inside};
  const auto numbers = expand_range(word, inside);
  if (!numbers) return numbers.error();
  std::vector<std::string> names;
  for (const std::string& number : *numbers)
    names.push_back(name.substr(0, open) + number + name.substr(close + 1));
  return names;
}

/// Cuts "name:4" at its last colon, unless that is one of an address of IPv6.
std::pair<std::string, std::optional<std::string>> cut_slots(const std::string& word) {
  const std::size_t bracket = word.rfind(']');
  const std::size_t colon = word.rfind(':');
  if (colon == std::string::npos || (bracket != std::string::npos && colon < bracket))
    return {word, std::nullopt};
  const bool is_bare_ipv6 = bracket == std::string::npos && word.find(':') != colon;
  if (is_bare_ipv6) return {word, std::nullopt};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

void add(std::vector<HostSlots>& hosts, const std::string& name, std::optional<int> slots) {
  const auto known = std::find_if(hosts.begin(), hosts.end(),
                                  [&](const HostSlots& host) { return host.host == name; });
  if (known == hosts.end())
    hosts.push_back({name, slots});
  else
    known->slots = known->slots.value_or(1) + slots.value_or(1);
}

Result<void> add_word(std::vector<HostSlots>& hosts, const std::string& word,
                      std::optional<int> slots) {
  auto [name, number] = cut_slots(word);
  if (number) {
    slots = read_number(*number, max_slots);
    if (!slots) return unreadable(word, "write the number of engines after ':'");
  }
  const auto names = expand_name(word, name);
  if (!names) return names.error();
  for (const std::string& one : *names) {
    if (!is_host_name(one)) return unreadable(word, "this is not a host name");
    add(hosts, one, slots);
  }
  if (hosts.size() > max_hosts)
    return Error{ErrorKind::bad_input, "more than " + std::to_string(max_hosts) + " hosts"};
  return {};
}

}  // namespace

Result<std::vector<HostSlots>> parse_hosts(std::string_view text) {
  std::vector<HostSlots> hosts;
  for (const std::string& word : split_words(text))
    if (auto done = add_word(hosts, word, std::nullopt); !done) return done.error();
  return hosts;
}

Result<std::vector<HostSlots>> parse_host_file(std::string_view text) {
  std::vector<HostSlots> hosts;
  int line_number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    const auto words = split_words(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    std::optional<int> slots;
    for (std::size_t i = 1; i < words.size(); ++i)
      if (words[i].starts_with("slots=")) slots = read_number(words[i].substr(6), max_slots);
    if (auto done = add_word(hosts, words.front(), slots); !done)
      return Error{ErrorKind::bad_input,
                   "line " + std::to_string(line_number) + ": " + done.error().what};
  }
  return hosts;
}

Result<std::vector<HostSlots>> hosts_from_json(const Json& value) {
  if (value.is_string()) return parse_hosts(value.get<std::string>());
  std::vector<HostSlots> hosts;
  if (value.is_array()) {
    for (const Json& item : value) {
      if (!item.is_string())
        return Error{ErrorKind::bad_input, "'hosts' must be a list of strings"};
      for (const std::string& word : split_words(item.get<std::string>()))
        if (auto done = add_word(hosts, word, std::nullopt); !done) return done.error();
    }
    return hosts;
  }
  if (!value.is_object())
    return Error{ErrorKind::bad_input, "hosts must be a string, a list or an object"};
  for (const auto& [name, count] : value.items()) {
    const Json& number = count.is_object() && count.contains("n") ? count["n"] : count;
    const auto slots = read_integer<int>(number);
    if (!slots || *slots < 0 || *slots > max_slots)
      return Error{ErrorKind::bad_input,
                   "invalid host '" + name + "': give the number of engines, as in {\"host2\": 4}"};
    if (auto done = add_word(hosts, name, *slots); !done) return done.error();
  }
  return hosts;
}

std::vector<int> share_engines(const std::vector<HostSlots>& hosts, int count) {
  check(!hosts.empty());
  std::vector<int> shares(hosts.size(), 0);
  std::vector<std::size_t> open;  // hosts without a number
  int left = count;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!hosts[i].slots) open.push_back(i);
    shares[i] = std::min(left, hosts[i].slots.value_or(0));
    left -= shares[i];
  }
  if (open.empty())
    for (std::size_t i = 0; i < hosts.size(); ++i)
      if (hosts[i].slots != 0) open.push_back(i);
  if (open.empty()) return shares;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const int open_count = static_cast<int>(open.size());
    shares[open[i]] += left / open_count + (static_cast<int>(i) < left % open_count ? 1 : 0);
  }
  return shares;
}

int count_slots(const std::vector<HostSlots>& hosts) {
  int sum = 0;
  for (const HostSlots& host : hosts) sum += host.slots.value_or(1);
  return sum;
}

bool is_loopback_name(std::string_view host) {
  if (const std::size_t at = host.find('@'); at != std::string_view::npos)
    host.remove_prefix(at + 1);
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace px::cluster
