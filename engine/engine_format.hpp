#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "jupyter/reply_format.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/request.hpp"

namespace px::engine {

/// The additions of ipyparallel's clients and schedulers to Jupyter's protocol: further requests,
/// and metadata that say which engine answers and how (protocol 5.3). Any thread may call it.
class EngineFormat final : public jupyter::ReplyFormat {
 public:
  explicit EngineFormat(EngineUuid uuid);

  void set_id(EngineId id) { id_ = id.value; }
  /// -1 before its registration.
  EngineId id() const { return EngineId{id_.load()}; }

  bool is_further_order(std::string_view type) const override;
  bool is_further_work(std::string_view type) const override;
  /// apply_request and native requests keep the order of the shell channels.
  bool may_pass_the_queue(std::string_view type) const override;
  bool refuses_unknown_types() const override { return false; }
  /// Native requests publish no busy and idle (docs/protocol.md, "Native messages").
  bool publishes_status(std::string_view type) const override;
  /// ipyparallel has no channel for input requests.
  bool may_ask_user() const override { return false; }

  /// `{"engine": uuid}`
  std::string metadata() const override { return metadata_; }
  /// Copies a part of it from the metadata of the request.
  std::string reply_metadata(const Request& request,
                             const jupyter::Outcome& outcome) const override;
  /// Adds `engine_info`.
  void describe_error(Json& content, std::string_view method) const override;
  std::string name() const override;

 private:
  const EngineUuid uuid_;
  const std::string quoted_uuid_;
  const std::string metadata_;
  std::atomic<int> id_ = -1;
};

/// The format for Jupyter's clients that are connected to the engine itself: only Jupyter's
/// protocol. They cannot end the engine, because it belongs to its cluster.
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
