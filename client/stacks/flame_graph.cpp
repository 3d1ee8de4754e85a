#include "client/stacks/flame_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <sstream>

#include "client/targets.hpp"
#include "wire/counted.hpp"

namespace px::client {
namespace {

constexpr double picture_width = 1200, picture_margin = 10, headline_height = 34, box_height = 18,
                 letter_width = 7.25,  // at 12 px
    least_box_width = 0.5;             // that can be seen
constexpr std::size_t most_drawn_groups = 20, most_label_bytes = 300;

/// The calls of one function from one place, and all that they called.
struct CallBox {
  double seconds = 0;
  std::map<std::size_t, CallBox> callees = {};  // by the number of the frame
};

CallBox tree_of(const ProfileGroup& group) {
  CallBox root;
  for (const auto& [stack, seconds] : group.seconds) {
    root.seconds += seconds;
    CallBox* box = &root;
    for (const std::size_t number : stack) {
      box = &box->callees[number];
      box->seconds += seconds;
    }
  }
  return root;
}

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;  // of a character of UTF-8
}

std::string cut_label(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most > 2 ? most - 2 : 0;
  while (end > 0 && continues_character(text[end])) --end;
  return text.substr(0, end) + "..";
}

std::string escape_xml(const std::string& text) {
  std::string safe;
  for (const char c : text) switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    }
  return safe;
}

std::string label_of(const ProfileFrame& frame) {
  const std::string place = frame.place.empty() ? "" : " (" + frame.place + ")";
  return cut_label(frame.name + place, most_label_bytes);
}

/// Light enough for black letters, the same for the same function: orange for Python, blue for
/// native code, green for cells of C++, grey for what is no function.
std::string colour_of(const ProfileFrame& frame) {
  if (frame.file.empty() && frame.place.empty()) return "hsl(0,0%,85%)";
  std::uint32_t hash = 2166136261U;
  for (const char c : frame.name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  const int hue = frame.kind == os::FrameKind::python   ? 30
                  : frame.kind == os::FrameKind::native ? 205
                                                        : 150;
  std::ostringstream colour;
  colour << "hsl(" << hue + static_cast<int>(hash % 16) << "," << 65 + hash / 16 % 20 << "%,"
         << 68 + hash / 512 % 12 << "%)";
  return colour.str();
}

/// Writes the groups one below the other.
class Picture {
 public:
  explicit Picture(const std::vector<ProfileFrame>& frames) : frames_(frames) {
    text_ << std::fixed << std::setprecision(1);
  }

  void add_line(const std::string& text, const char* kind) {
    text_ << "<text class=\"" << kind << "\" x=\"" << picture_margin << "\" y=\""
          << bottom_ + headline_height - 12 << "\">" << escape_xml(text) << "</text>\n";
    bottom_ += headline_height;
  }
  void add(const ProfileGroup& group) {
    const CallBox root = tree_of(group);
    const bool is_one = group.engines.size() == 1;
    add_line((is_one ? "engine " : "engines ") + name_engines(group.engines), "head");
    if (root.seconds <= 0) return;
    whole_ = root.seconds;
    add_callees(root, picture_margin, bottom_);
    bottom_ += 8;
  }
  std::string take() const {
    std::ostringstream file;
    file << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << picture_width << " "
         << std::lround(bottom_ + picture_margin) << "\" width=\"100%\">\n<style>"
         << "text{font:12px monospace;fill:#000}.title{font-size:16px}.head{font-weight:bold}"
         << "rect{stroke:#fff;stroke-width:.5}g:hover rect{stroke:#000;stroke-width:1.5}"
         << "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
         << text_.str() << "</svg>\n";
    return file.str();
  }

 private:
  void add_callees(const CallBox& caller, double left, double top) {
    for (const auto& [number, box] : caller.callees) {
      const double width = box.seconds / whole_ * (picture_width - 2 * picture_margin);
      if (width >= least_box_width) {
        add_box(frames_[number], box.seconds, left, top, width);
        add_callees(box, left, top + box_height);
      }
      left += width;
    }
  }
  void add_box(const ProfileFrame& frame, double seconds, double left, double top, double width) {
    const std::string label = label_of(frame);
    text_ << "<g><title>" << escape_xml(label) << ": " << seconds << " s, "
          << 100 * seconds / whole_ << " %</title><rect x=\"" << left << "\" y=\"" << top
          << "\" width=\"" << width << "\" height=\"" << box_height << "\" fill=\""
          << colour_of(frame) << "\"/>";
    if (const double letters = (width - 6) / letter_width; letters >= 3)
      text_ << "<text x=\"" << left + 3 << "\" y=\"" << top + 13 << "\">"
            << escape_xml(cut_label(label, static_cast<std::size_t>(letters))) << "</text>";
    text_ << "</g>\n";
    bottom_ = std::max(bottom_, top + box_height);
  }

  const std::vector<ProfileFrame>& frames_;
  std::ostringstream text_;
  double bottom_ = 0, whole_ = 0;
};

}  // namespace

std::string flame_graph(const StackProfile& profile, const std::string& title) {
  Picture picture{profile.frames()};
  picture.add_line(title, "title");
  const std::vector<ProfileGroup> groups = profile.groups();
  for (std::size_t i = 0; i < std::min(groups.size(), most_drawn_groups); ++i)
    picture.add(groups[i]);
  if (groups.size() > most_drawn_groups)
    picture.add_line(counted(groups.size() - most_drawn_groups, "more group"), "head");
  return picture.take();
}

}  // namespace px::client
