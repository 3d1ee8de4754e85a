#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <px/wire/ids.hpp>
#include <px/wire/json.hpp>
#include <px/wire/request.hpp>
#include <px/wire/time.hpp>

namespace px {

/// Who this engine is, once it is registered.
struct EngineIdentity {
  EngineUuid uuid;
  EngineId id{-1};
};

/// `{"engine": uuid}` as JSON text: what every message of an engine carries.
std::string engine_metadata(const EngineUuid& uuid);

/// How a request ended, as its reply tells the schedulers.
struct Outcome {
  std::string_view status;  ///< "ok", "error" or "aborted"
  WallTime started;
  bool is_unmet_dependency = false;
  /// What has been published for a native request, which has no busy and idle around it.
  std::optional<std::size_t> published = std::nullopt;
};

/// The metadata of apply_reply, execute_reply and our own replies as JSON text (protocol 5.3). Part
/// of it is copied from the metadata of the request.
std::string reply_metadata(Packer packer, const Request& request, const EngineIdentity& identity,
                           const Outcome& outcome);

/// `engine_info` of the content of an error.  method  e.g. "apply" of an apply_request.
Json engine_info(const EngineIdentity& identity, std::string_view method);

}  // namespace px
