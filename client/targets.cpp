#include "client/targets.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "wire/text.hpp"

namespace px::client {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Error not_targets(std::string_view part) {
  return {ErrorKind::bad_input,
          "'" + std::string(part) +
              "' is not a list of engines: write 'all', a number, a range like 0:4 "
              "or a list like 0,2,5:8"};
}

std::vector<std::string_view> trimmed_parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts = split(text, separator);
  for (std::string_view& part : parts) part = trimmed(part);
  return parts;
}

Result<Targets::Slice> read_slice(std::string_view text) {
  const std::vector<std::string_view> parts = trimmed_parts(text, ':');
  if (parts.size() > 3) return not_targets(text);
  std::optional<long> numbers[3];
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    numbers[i] = read_whole_number<long>(parts[i]);
    if (!numbers[i]) return not_targets(text);
  }
  if (numbers[2] == 0) return not_targets(text);
  return Targets::Slice{numbers[0], numbers[1], numbers[2]};
}

/// What Python's slice.indices() does.
std::vector<EngineId> take_slice(const Targets::Slice& slice, const std::vector<EngineId>& ids) {
  const long count = static_cast<long>(ids.size());
  const long step = std::clamp(slice.step.value_or(1), -count - 1, count + 1);  // all that counts
  const long lowest = step > 0 ? 0 : -1;
  const long highest = step > 0 ? count : count - 1;
  const auto place = [&](std::optional<long> wanted, long otherwise) {
    if (!wanted) return otherwise;
    return std::clamp(*wanted < 0 ? *wanted + count : *wanted, lowest, highest);
  };
  const long begin = place(slice.begin, step > 0 ? lowest : highest);
  const long end = place(slice.end, step > 0 ? highest : lowest);
  std::vector<EngineId> taken;
  for (long i = begin; step > 0 ? i < end : i > end; i += step)
    taken.push_back(ids[static_cast<std::size_t>(i)]);
  return taken;
}

Error unknown_engine(EngineId id, const std::vector<EngineId>& present) {
  return {ErrorKind::not_found,
          "there is no engine " + std::to_string(id.value) + "; " + say_who_is_there(present)};
}

Error too_large(std::string_view number) {
  return {ErrorKind::bad_input, "there is no engine " + std::string(number) +
                                    ": engine ids are at most " +
                                    std::to_string(std::numeric_limits<int>::max())};
}

}  // namespace

Result<Targets> Targets::parse(std::string_view text) {
  text = trimmed(text);
  if (text == "all") return all();
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
    text = trimmed(text.substr(1, text.size() - 2));
  Parts parts;
  for (const std::string_view part : trimmed_parts(text, ',')) {
    if (part.find(':') != std::string_view::npos) {
      const Result<Slice> slice = read_slice(part);
      if (!slice) return slice.error();
      parts.push_back(Targets{*slice});
    } else if (const std::optional<long> number = read_whole_number<long>(part);
               number && *number >= 0) {
      if (!std::in_range<int>(*number)) return too_large(part);
      parts.push_back(ids({EngineId{static_cast<int>(*number)}}));
    } else if (number) {
      parts.push_back(Targets{
          Slice{*number, *number == -1 ? std::nullopt : std::optional(*number + 1), std::nullopt}});
    } else {
      return not_targets(part.empty() ? text : part);
    }
  }
  if (parts.size() == 1) return parts.front();
  return Targets{std::move(parts)};
}

Result<std::vector<EngineId>> Targets::resolve(const std::vector<EngineId>& present) const {
  if (present.empty())
    return Error{ErrorKind::not_found,
                 "no engine is registered: start some with `pxcluster engines -n 4`"};
  if (is_all()) return present;
  if (const auto* slice = std::get_if<Slice>(&what_)) return take_slice(*slice, present);
  if (const auto* wanted = std::get_if<std::vector<EngineId>>(&what_)) {
    for (const EngineId id : *wanted)
      if (!std::binary_search(present.begin(), present.end(), id)) return unknown_engine(id, present);
    return *wanted;
  }
  std::vector<EngineId> joined;
  for (const Targets& part : std::get<Parts>(what_)) {
    const auto ids = part.resolve(present);
    if (!ids) return ids.error();
    joined.insert(joined.end(), ids->begin(), ids->end());
  }
  return joined;
}

std::string say_who_is_there(const std::vector<EngineId>& present) {
  return (present.size() == 1 ? "there is only " : "there are ") + name_engines(present);
}

std::string name_engines(const std::vector<EngineId>& ids) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t last = i;
    while (last + 1 < ids.size() && ids[last + 1].value == ids[last].value + 1) ++last;
    if (last - i < 2) last = i;
    runs.push_back(std::to_string(ids[i].value));
    if (last > i) runs.back() += "-" + std::to_string(ids[last].value);
    i = last + 1;
  }
  std::string text;
  for (std::size_t i = 0; i < runs.size(); ++i)
    text += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runs[i];
  return text;
}

std::string say_engines(const std::vector<EngineId>& ids) {
  return (ids.size() == 1 ? "engine " : "engines ") + name_engines(ids);
}

}  // namespace px::client
