#include "os/segments/segment.hpp"

#include <algorithm>

#include "wire/checked_json.hpp"
#include "wire/json_scan.hpp"
#include "wire/text.hpp"

namespace px::os {
namespace {

constexpr std::string_view mark = "px-segment ";
constexpr std::size_t longest_owner = 80;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
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
  const std::vector<std::string_view> parts = split(text, '.');
  return parts.size() == 3 && is_segment_owner(parts[0]) && is_segment_owner(parts[1]) &&
         read_whole_number<std::uint64_t>(parts[2]).has_value();
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
  const std::vector<std::string_view> parts = split(frame.substr(mark.size()), ' ');
  if (parts.size() != 3 || !is_segment_name(parts[0])) return std::nullopt;
  const auto offset = read_whole_number<std::uint64_t>(parts[1]);
  const auto length = read_whole_number<std::uint64_t>(parts[2]);
  if (!offset || !length) return std::nullopt;
  return SegmentPart{std::string(parts[0]), *offset, *length};
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
