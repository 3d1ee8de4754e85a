#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/envelope.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/shared_bytes.hpp"
#include "wire/time.hpp"

namespace px::client {

// The library's information about the requests of a call. Objects of these classes do not change
// later.

/// Whether and how a request ended.
enum class TaskStatus { pending, ok, error, aborted };

/// "pending", "ok", "error", "aborted".
std::string_view name_of(TaskStatus status);

/// A reply to a request. A Reply and its copies share the frames of the message, so that copies are
/// cheap. Each call of a function below parses a part of the message, on the caller's thread. Any
/// thread may use a Reply.
class Reply {
 public:
  Reply() = default;
  /// Makes a Reply from a message that has arrived. `envelope` has views into `frames`.
  Reply(Packer packer, SharedFrames frames, const Envelope& envelope)
      : packer_(packer), frames_(std::move(frames)), envelope_(envelope) {}

  /// Makes a Reply from the parts in the controller's record, if the reply did not arrive as a
  /// message.
  static Reply of_record(const Json& header, const Json& metadata, const Json& content,
                         const std::vector<SharedBytes>& buffers);

  /// Whether there is a reply. If there is no reply, all functions below return empty values.
  bool is_there() const { return frames_ != nullptr; }
  /// The content of the reply. This function, metadata() and header() return an empty object if the
  /// part is malformed.
  Json content() const { return part(envelope_.content); }
  /// The metadata, with the times and the engine as the engine reports them.
  Json metadata() const { return part(envelope_.metadata); }
  /// The header, with the sender, date and type.
  Json header() const { return part(envelope_.header); }
  /// The content as JSON text, even if the cluster uses msgpack.
  std::string content_text() const;
  /// The buffers with large values, to which the content refers by their indexes. Only buffers that
  /// were sent in pieces are copied from the frames of the message.
  std::vector<SharedBytes> buffers() const;
  /// The size of all frames, in bytes.
  std::size_t bytes() const { return frames_ ? total_bytes(*frames_) : 0; }

 private:
  Json part(std::string_view packed) const;
  Packer packer_ = Packer::json;
  SharedFrames frames_;
  Envelope envelope_;
};

/// Something that an engine published while it worked on a request: text on stdout or stderr, a
/// display, a result, an error.
struct Publication {
  std::string
      type;       ///< stream, display_data, execute_result, error, execute_input, data_message ...
  Json content;   ///< The content, which depends on the type.
  Json metadata;  ///< For displays: how to show them.
  std::vector<SharedBytes> buffers;  ///< For displays that have buffers.
};

/// The reason why a request failed. The engine or the controller has reported it, or this client
/// has found the failure itself.
struct Failure {
  std::string name;                    ///< "ZeroDivisionError", "EngineError", "TaskAborted" ...
  std::string value;                   ///< The message of the exception.
  std::vector<std::string> traceback;  ///< The lines, possibly with ANSI colours; may be empty.
  std::optional<EngineId> engine;      ///< The engine; no value if the failure happened elsewhere.
  std::string method;                  ///< "execute", "apply", "call" ...; may be empty.
  Json exception = {};                 ///< Facts about its class (docs/protocol.md); may be empty.
};

/// One request of a call, as it was sent.
struct TaskSent {
  MessageId msg_id;                ///< The id of the request.
  std::optional<EngineId> engine;  ///< No value if the controller chooses.
  EngineUuid engine_uuid;          ///< Empty if the controller chooses.
  WallTime submitted{};            ///< When it was composed.
  Json label;                      ///< The label that the caller gave.
};

/// All information that the library has about one request of a call.
struct TaskInfo {
  TaskSent sent;                            ///< The request that was sent.
  TaskStatus status = TaskStatus::pending;  ///< How it ended, if it has.
  bool is_output_complete = false;          ///< Whether all its publications have arrived.
  Reply reply;                              ///< Empty if the client found the failure itself.
  std::optional<Failure> failure;           ///< Set if the status is error or aborted.
  std::optional<WallTime> received;         ///< When its reply or failure arrived.
};

/// An event of a call, as AsyncResult::events() returns it.
struct CallEvent {
  /// A request published something, was answered, or has sent its last publication.
  enum class Kind { published, answered, output_complete };
  Kind kind = Kind::published;                     ///< The kind of event.
  std::uint32_t task = 0;                          ///< The number of the request.
  std::shared_ptr<const Publication> publication;  ///< Set for `published`.
};

}  // namespace px::client
