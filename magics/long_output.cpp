#include "magics/long_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "magics/label.hpp"
#include "os/written_file.hpp"
#include "wire/session.hpp"

namespace px::magics {
namespace {

std::string mebibytes(std::size_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

/// A new file for a cell's output. Not open: errno gives the reason.
os::Descriptor new_file(const std::filesystem::path& folder, std::filesystem::path& path) {
  constexpr std::string_view ending = ".txt";
  std::string name = (folder / "polyxeus-output-XXXXXX.txt").string();
  os::Descriptor file{::mkostemps(name.data(), static_cast<int>(ending.size()), O_CLOEXEC)};
  path = name;
  return file;
}

}  // namespace

void LongOutput::perform(const Action& action) {
  if (const auto* text = std::get_if<WriteText>(&action)) return write(*text);
  if (std::holds_alternative<ClearOutput>(action)) {
    shown_.clear();
    if (path_.empty()) all_.clear();
    is_display_there_ = false;
  }
  screen_.perform(action);
}

void LongOutput::write(const WriteText& text) {
  bytes_ += text.text.size();
  lines_ += static_cast<std::size_t>(std::count(text.text.begin(), text.text.end(), '\n'));
  save(text.text);
  std::size_t& shown = shown_[text.stream];
  const std::size_t room = limits_.bytes - std::min(shown, limits_.bytes);
  if (text.text.size() <= room) {
    shown += text.text.size();
    return screen_.perform(text);
  }
  const std::size_t end = room == 0 ? std::string::npos : text.text.rfind('\n', room - 1);
  if (end != std::string::npos)
    screen_.perform(WriteText{text.stream, text.text.substr(0, end + 1)});
  shown = limits_.bytes;  // nothing more, so that no line is missing between shown ones
  if (path_.empty()) begin_file();
  keep_last_lines(text.text);
  if (Clock::now() - updated_ >= limits_.period) show();
}

void LongOutput::begin_file() {
  std::error_code error;
  file_ = new_file(std::filesystem::absolute(folder_, error).lexically_normal(), path_);
  if (!file_.is_open()) problem_ = std::strerror(errno);
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  if (!problem_.empty() && !error) {
    file_ = new_file(temporary, path_);
    problem_ = file_.is_open() ? "" : std::strerror(errno);
  }
  save(std::exchange(all_, {}));
}

void LongOutput::save(std::string_view text) {
  if (path_.empty()) {
    all_ += text;
  } else if (file_.is_open() && problem_.empty() && !os::write_all(file_.value(), text)) {
    problem_ = std::strerror(errno);
  }
}

void LongOutput::keep_last_lines(std::string_view text) {
  last_lines_ += text;
  std::size_t begin = last_lines_.size();
  for (std::size_t i = 0; i <= limits_.last_lines && begin != std::string::npos; ++i)
    begin = begin == 0 ? std::string::npos : last_lines_.rfind('\n', begin - 1);
  if (begin != std::string::npos) last_lines_.erase(0, begin + 1);
}

void LongOutput::end() {
  if (!path_.empty()) show();
}

void LongOutput::show() {
  updated_ = Clock::now();
  if (!is_display_there_) display_id_ = "long-output-" + new_session_id();
  ShowData shown = text_only(report());
  shown.display_id = display_id_;
  shown.is_update = std::exchange(is_display_there_, true);
  screen_.perform(shown);
}

std::string LongOutput::report() const {
  std::string text = "The output has " + std::to_string(lines_) + " lines (" + mebibytes(bytes_) +
                     "). A notebook shows " + mebibytes(limits_.bytes) + " of it. ";
  if (problem_.empty())
    text += "The file " + path_.string() + " has all of it";
  else
    text += "The rest cannot be written to " + path_.string() + " (" + problem_ +
            "). Get all of it from the result: `%pxresult --out=r`, then r.stdout";
  return text + ". The latest lines:\n" + last_lines_;
}

}  // namespace px::magics
