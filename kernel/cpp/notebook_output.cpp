#include "kernel/cpp/notebook_output.hpp"

#include <utility>

#include "magics/progress_text.hpp"
#include "wire/session.hpp"

namespace px::kernel {

NotebookOutput::NotebookOutput(interpreters::Output& output, std::function<bool()> is_interrupted,
                               std::function<void(const std::string&)> run_here)
    : output_(output), is_interrupted_(std::move(is_interrupted)), run_here_(std::move(run_here)) {}

void NotebookOutput::perform(const magics::Action& action) {
  std::visit([this](const auto& one) { show(one); }, action);
}

void NotebookOutput::show(const magics::WriteText& text) {
  output_.write(text.stream, text.text);
}

void NotebookOutput::show(const magics::ShowData& shown) {
  Json content{{"data", shown.data}, {"metadata", shown.metadata}, {"transient", Json::object()}};
  if (!shown.display_id.empty()) content["transient"]["display_id"] = shown.display_id;
  output_.publish(shown.is_update ? "update_display_data" : "display_data",
                  pack(Packer::json, content), "{}", {});
}

void NotebookOutput::show(const magics::ClearOutput& clear) {
  output_.publish("clear_output", pack(Packer::json, {{"wait", clear.waits}}), "{}", {});
}

void NotebookOutput::show(const magics::ShowProgress& progress) {
  const bool is_update = !progress_id_.empty();
  if (!is_update) progress_id_ = "progress-" + new_session_id();
  show(magics::ShowData{magics::progress_data(progress), Json::object(), progress_id_, is_update});
}

}  // namespace px::kernel
