#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/engine_format.hpp"

namespace px::engine {

/// What Jupyter's clients get that are connected to the engine itself: Jupyter's protocol and no
/// more. The engine belongs to its cluster, so that they cannot end it.
class ConsoleFormat final : public jupyter::ReplyFormat {
 public:
  explicit ConsoleFormat(std::shared_ptr<const EngineFormat> engine) : engine_(std::move(engine)) {}

  std::optional<std::string> why_no_shutdown() const override {
    return name() + " goes on: it ends with its cluster (`pxcluster stop`, client.shutdown())";
  }
  std::string name() const override { return engine_->name(); }

 private:
  std::shared_ptr<const EngineFormat> engine_;
};

}  // namespace px::engine
