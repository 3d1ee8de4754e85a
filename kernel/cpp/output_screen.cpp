#include <px/kernel/cpp/output_screen.hpp>

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include <px/wire/session.hpp>

namespace px::kernel {
namespace {

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '&')
      html += "&amp;";
    else if (c == '<')
      html += "&lt;";
    else if (c == '>')
      html += "&gt;";
    else
      html += c;
  }
  return html;
}

/// Nothing at all for an empty progress: empty text would take up a line.
Json progress_data(const ShowProgress& progress) {
  if (progress.is_empty()) return Json::object();
  std::string text, html;
  for (const std::string& line : progress.lines) {
    text += line + "\n";
    html += "<pre style='margin:0'>" + escaped(line) + "</pre>\n";
  }
  if (progress.total > 0) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(progress.elapsed).count();
    const std::string state = fmt::format("{}/{} engines done, {}:{:02}", progress.done,
                                          progress.total, seconds / 60, seconds % 60);
    text += state;
    html += fmt::format("<progress max='{}' value='{}' style='width:14em'></progress> {}",
                        progress.total, progress.done, state);
  }
  return {{"text/plain", text}, {"text/html", html}};
}

}  // namespace

OutputScreen::OutputScreen(Output& output, std::function<bool()> is_interrupted,
                           std::function<void(const std::string&)> run_here)
    : output_(output), is_interrupted_(std::move(is_interrupted)), run_here_(std::move(run_here)) {}

void OutputScreen::perform(const Action& action) {
  std::visit([this](const auto& one) { show(one); }, action);
}

void OutputScreen::show(const WriteText& text) {
  output_.write(text.stream, text.text);
}

void OutputScreen::show(const ShowData& shown) {
  Json content{{"data", shown.data}, {"metadata", shown.metadata}, {"transient", Json::object()}};
  if (!shown.display_id.empty()) content["transient"]["display_id"] = shown.display_id;
  output_.publish(shown.is_update ? "update_display_data" : "display_data",
                  pack(Packer::json, content), "{}", {});
}

void OutputScreen::show(const ClearOutput& clear) {
  output_.publish("clear_output", pack(Packer::json, {{"wait", clear.waits}}), "{}", {});
}

void OutputScreen::show(const ShowProgress& progress) {
  const bool is_update = !progress_id_.empty();
  if (!is_update) progress_id_ = "progress-" + new_session_id();
  show(ShowData{progress_data(progress), Json::object(), progress_id_, is_update});
}

}  // namespace px::kernel
