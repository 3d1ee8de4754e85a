#include "cluster/commands/engine_output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "magics/label.hpp"

namespace px::cluster {
namespace {

EngineId engine_of(const client::TaskInfo& info) {
  return info.sent.engine.value_or(EngineId{-1});
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// https://no-color.org
bool wants_colours() {
  return is_terminal() && !is_set("NO_COLOR") && is_set("TERM") &&
         std::string_view(std::getenv("TERM")) != "dumb";
}

magics::DisplayOptions display_options(const client::AsyncResult& result, bool is_by_line) {
  magics::DisplayOptions options;
  for (std::size_t i = 0; i < result.size(); ++i)
    options.engines.push_back(engine_of(result.info(i)));
  options.is_folding = !is_by_line;
  options.labels_each_line = is_by_line;
  options.is_plain = true;
  options.has_colours = wants_colours();
  options.can_update = false;
  if (!is_terminal()) options.progress_after.reset();
  return options;
}

}  // namespace

bool is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

magics::TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_col, size.ws_row};
}

TerminalOutput::TerminalOutput(const client::AsyncResult& result, bool is_by_line)
    : result_(result),
      is_terminal_(is_terminal()),
      is_live_(is_by_line || is_terminal_),
      display_(display_options(result, is_by_line), Clock::now()) {}

void TerminalOutput::print_above(const std::function<void()>& print) {
  std::cerr << progress_.before_text() << std::flush;
  print();
  std::cerr << progress_.after_text(true) << std::flush;
}

void TerminalOutput::write(const std::vector<magics::Action>& actions) {
  for (const magics::Action& action : actions) {
    if (const auto* text = std::get_if<magics::WriteText>(&action)) {
      std::cerr << progress_.before_text() << std::flush;
      (text->stream == "stderr" ? std::cerr : std::cout) << text->text << std::flush;
      std::cerr << progress_.after_text(text->text.ends_with('\n')) << std::flush;
    }
    const auto* const progress = std::get_if<magics::ShowProgress>(&action);
    if (progress && is_terminal_)
      std::cerr << progress_.show(*progress, terminal_size()) << std::flush;
  }
}

void TerminalOutput::take(std::size_t task, const client::Publication& publication) {
  const auto shown = magics::read_publication(task, publication, std::nullopt);
  if (!shown) return;
  if (std::holds_alternative<magics::Failed>(*shown)) failed_.insert(task);
  display_.on(*shown, Clock::now());
}

void TerminalOutput::show_new(Duration patience) {
  const auto events = result_.events(cursor_, patience);
  cursor_ += events.size();
  for (const client::CallEvent& event : events) {
    if (event.kind == client::CallEvent::Kind::answered)
      display_.on(magics::Done{event.task}, Clock::now());
    if (event.publication && is_live_) take(event.task, *event.publication);
  }
  write(display_.take(Clock::now()));
}

void TerminalOutput::finish() {
  if (is_live_) show_new(Duration{});
  for (std::size_t i = 0; i < result_.size(); ++i) {
    if (!is_live_)
      for (const auto& publication : result_.publications(i)) take(i, *publication);
    if (const auto failure = result_.info(i).failure; failure && !failed_.contains(i))
      display_.on(magics::Failed{i, *failure}, Clock::now());
  }
  write(display_.finish(Clock::now()));
}

Json engine_output_json(const client::AsyncResult& result, std::size_t task) {
  const client::TaskInfo info = result.info(task);
  Json line{{"engine", engine_of(info).value},
            {"status", client::name_of(info.status)},
            {"stdout", result.stdout_text(task)},
            {"stderr", result.stderr_text(task)}};
  for (const auto& publication : result.publications(task)) {
    if (publication->type == "display_data") line["displays"].push_back(publication->content);
    const auto shown = magics::read_publication(task, *publication, std::nullopt);
    const auto* const value = shown ? std::get_if<magics::Valued>(&*shown) : nullptr;
    if (const auto text = value ? string_member(value->data, "text/plain") : std::nullopt)
      line["result"] = *text;
  }
  if (info.failure) {
    std::string traceback;
    for (const std::string& part : info.failure->traceback) traceback += part + "\n";
    line["error"] = {{"ename", info.failure->name},
                     {"evalue", info.failure->value},
                     {"traceback", magics::without_colours(traceback)}};
  }
  return line;
}

}  // namespace px::cluster
