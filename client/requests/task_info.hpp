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

// What is known of the requests of a call. Values.

/// How a request ended.
enum class TaskStatus { pending, ok, error, aborted };

/// "pending", "ok", "error", "aborted".
std::string_view name_of(TaskStatus status);

/// A reply, to be parsed when somebody asks. Shares its frames.
class Reply {
 public:
  Reply() = default;
  /// The parts of a message that came.
  Reply(Packer packer, SharedFrames frames, const Envelope& envelope)
      : packer_(packer), frames_(std::move(frames)), envelope_(envelope) {}

  /// A reply that did not come as a message: the parts as the controller has them on record.
  static Reply of_record(const Json& header, const Json& metadata, const Json& content,
                         const std::vector<SharedBytes>& buffers);

  /// Whether there is a reply.
  bool is_there() const { return frames_ != nullptr; }
  /// What it says; this and the next two are empty objects where they are malformed.
  Json content() const { return part(envelope_.content); }
  /// Started, completed, engine: as the engine says.
  Json metadata() const { return part(envelope_.metadata); }
  /// Who sent it, when, of which type.
  Json header() const { return part(envelope_.header); }
  /// The content as JSON text, whatever it was packed by.
  std::string content_text() const;
  /// Large values, which the content names by their numbers.
  std::vector<SharedBytes> buffers() const;
  /// Of all its frames.
  std::size_t bytes() const { return frames_ ? total_bytes(*frames_) : 0; }

 private:
  Json part(std::string_view packed) const;
  Packer packer_ = Packer::json;
  SharedFrames frames_;
  Envelope envelope_;
};

/// What an engine showed while it worked for a request: streams, displays, results, errors.
struct Publication {
  std::string
      type;       ///< stream, display_data, execute_result, error, execute_input, data_message ...
  Json content;   ///< What it says, by its type.
  Json metadata;  ///< Of displays: how to show them.
  std::vector<SharedBytes> buffers;  ///< Of displays that have some.
};

/// What an engine, or the controller in its place, said of a request that failed.
struct Failure {
  std::string name;                    ///< "ZeroDivisionError", "EngineError", "TaskAborted" ...
  std::string value;                   ///< What the exception says.
  std::vector<std::string> traceback;  ///< Lines, maybe with ANSI colours; may be empty.
  std::optional<EngineId> engine;      ///< Where; nothing for failures of the controller's queue.
  std::string method;                  ///< "execute", "apply", "call" ...; may be empty.
};

/// One request of a call: what was sent.
struct TaskSent {
  MessageId msg_id;                ///< The id of the request.
  std::optional<EngineId> engine;  ///< Nothing where the controller chooses.
  EngineUuid engine_uuid;          ///< Empty where the controller chooses.
  WallTime submitted{};            ///< When it was sent.
  Json label;                      ///< As the caller gave it.
};

/// One request of a call: all that is known. A value.
struct TaskInfo {
  TaskSent sent;                            ///< What was sent.
  TaskStatus status = TaskStatus::pending;  ///< How it ended, if it did.
  bool is_output_complete = false;          ///< All that it published is here.
  Reply reply;                              ///< Not there for a failure that was found here.
  std::optional<Failure> failure;           ///< Where status is error or aborted.
  std::optional<WallTime> received;         ///< When its reply came.
};

/// Something that happened to a call.
struct CallEvent {
  /// A request published something, was answered, or has published its last.
  enum class Kind { published, answered, output_complete };
  Kind kind = Kind::published;                     ///< What happened.
  std::uint32_t task = 0;                          ///< Which of the requests.
  std::shared_ptr<const Publication> publication;  ///< Of `published`.
};

}  // namespace px::client
