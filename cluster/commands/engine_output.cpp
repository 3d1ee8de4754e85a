#include "cluster/commands/engine_output.hpp"

#include <algorithm>

#include "client/targets.hpp"

namespace px::cluster {
namespace {

std::string plain_text(const Json& content) {
  const auto data = content.find("data");
  if (data == content.end() || !data->is_object()) return "";
  return string_member(*data, "text/plain").value_or("");
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string failure_text(const client::Failure& failure) {
  std::string text = without_colours(joined(failure.traceback));
  if (text.empty()) text = failure.name + ": " + failure.value;
  return text;
}

/// Blocks of text, equal ones once.
class Blocks {
 public:
  void add(const std::string& label, const std::string& text, EngineId engine) {
    if (text.empty()) return;
    const auto same = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
      return block.label == label && block.text == text;
    });
    if (same != blocks_.end())
      same->engines.push_back(engine);
    else
      blocks_.push_back({label, text, {engine}});
  }
  /// separator  between the label and the engines: "stdout:0", "Out[0]".
  std::string text() const {
    std::string all;
    for (const Block& block : blocks_) {
      const bool has_lines = block.text.find('\n') < block.text.size() - 1;
      all += "[" + block.label + client::name_engines(block.engines) + "]" +
             (has_lines ? "\n" : " ") + block.text;
      if (block.text.back() != '\n') all += '\n';
    }
    return all;
  }

 private:
  struct Block {
    std::string label, text;
    std::vector<EngineId> engines;
  };
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<EngineOutput> read_outputs(const client::AsyncResult& result) {
  std::vector<EngineOutput> outputs;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const client::TaskInfo info = result.info(i);
    EngineOutput output;
    output.engine = info.sent.engine.value_or(EngineId{-1});
    output.status = info.status;
    output.failure = info.failure;
    output.stdout_text = result.stdout_text(i);
    output.stderr_text = result.stderr_text(i);
    for (const auto& publication : result.publications(i)) {
      if (publication->type == "execute_result") output.result = plain_text(publication->content);
      if (publication->type == "display_data") output.displays.push_back(publication->content);
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

Json to_json(const EngineOutput& output) {
  Json line{{"engine", output.engine.value},
            {"status", client::name_of(output.status)},
            {"stdout", output.stdout_text},
            {"stderr", output.stderr_text}};
  if (!output.result.empty()) line["result"] = output.result;
  if (!output.displays.empty()) line["displays"] = output.displays;
  if (output.failure)
    line["error"] = {{"ename", output.failure->name},
                     {"evalue", output.failure->value},
                     {"traceback", without_colours(joined(output.failure->traceback))}};
  return line;
}

GroupedText group(const std::vector<EngineOutput>& outputs) {
  Blocks printed, results, complaints, failures;
  for (const EngineOutput& output : outputs) {
    printed.add("stdout:", output.stdout_text, output.engine);
    for (const Json& display : output.displays)
      printed.add("display:", plain_text(display), output.engine);
    results.add("result:", output.result, output.engine);
    complaints.add("stderr:", output.stderr_text, output.engine);
    if (output.failure) failures.add("error:", failure_text(*output.failure), output.engine);
  }
  return {printed.text() + results.text(), complaints.text() + failures.text()};
}

std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) != "\x1b[") {
      plain += text[i];
      continue;
    }
    i = std::min(text.find('m', i), text.size());
  }
  return plain;
}

}  // namespace px::cluster
