#include "os/segments/segment.hpp"

#include <algorithm>
#include <charconv>

#include "wire/checked_json.hpp"
#include "wire/json_scan.hpp"

namespace px::os {
namespace {

constexpr std::string_view mark = "px-segment ";
constexpr std::size_t longest_owner = 80;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// The text before the next `separator`, which is taken off; all of it where there is none.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view first = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return first;
}

/// Digits alone, and no more than the type holds.
std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace

bool is_segment_owner(std::string_view text) {
  return !text.empty() && text.size() <= longest_owner &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; });
}

std::string segment_name(std::string_view owner, std::string_view maker, std::uint64_t number) {
  return std::string(owner) + "." + std::string(maker) + "." + std::to_string(number);
}

bool is_segment_name(std::string_view text) {
  if (std::count(text.begin(), text.end(), '.') != 2) return false;
  const std::string_view owner = take(text, '.'), maker = take(text, '.');
  return is_segment_owner(owner) && is_segment_owner(maker) && read_number(text).has_value();
}

std::string_view owner_of_segment(std::string_view name) {
  return name.substr(0, name.find('.'));
}

std::string write_segment_part(const SegmentPart& part) {
  return std::string(mark) + part.name + " " + std::to_string(part.offset) + " " +
         std::to_string(part.length);
}

std::optional<SegmentPart> read_segment_part(std::string_view frame) {
  if (frame.size() > longest_segment_part || !frame.starts_with(mark)) return std::nullopt;
  if (std::count(frame.begin(), frame.end(), ' ') != 3) return std::nullopt;
  frame.remove_prefix(mark.size());
  const std::string_view name = take(frame, ' ');
  const auto offset = read_number(take(frame, ' ')), length = read_number(frame);
  if (!is_segment_name(name) || !offset || !length) return std::nullopt;
  return SegmentPart{std::string(name), *offset, *length};
}

bool may_name_segments(const Frames& frames, std::size_t first_buffer) {
  for (std::size_t i = first_buffer; i < frames.size(); ++i) {
    const std::string_view frame = frames.at(i);
    if (frame.size() <= longest_segment_part && frame.starts_with(mark)) return true;
  }
  return false;
}

std::vector<std::size_t> segment_indexes(Packer packer, std::string_view metadata) {
  const Json said = packed_member(packer, metadata, "segments");
  std::vector<std::size_t> indexes;
  if (!said.is_array()) return indexes;
  for (const Json& index : said)
    if (const auto number = read_integer<std::size_t>(index)) indexes.push_back(*number);
  return indexes;
}

std::string with_segments(std::string metadata, const std::vector<std::size_t>& indexes) {
  return with_member(std::move(metadata), "segments", Json(indexes).dump());
}

}  // namespace px::os
