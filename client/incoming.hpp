#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <px/client/error.hpp>
#include <px/wire/envelope.hpp>
#include <px/wire/frames.hpp>
#include <px/wire/json.hpp>
#include <px/wire/shared_bytes.hpp>
#include <px/wire/time.hpp>

namespace px {

// Messages that come to a client. Their signatures are verified already.

/// How a request ended.
enum class TaskStatus { pending, ok, error, aborted };

/// "pending", "ok", "error", "aborted".
std::string_view name_of(TaskStatus status);

/// What the I/O thread has to know of a reply; read without parsing the whole.
struct ReplyHead {
  MessageId parent;
  TaskStatus status = TaskStatus::ok;
  /// How many publications belong to the request, where the engine says so; otherwise its "idle"
  /// is the last one.
  std::optional<std::size_t> published;
  std::string engine;  ///< Uuid of the engine that answers; empty where the controller does.
};

/// errors  bad_input: no parent, or a status that nobody knows.
Result<ReplyHead> read_reply_head(Packer packer, const Envelope& envelope);

/// A reply, to be parsed when somebody asks. Shares its frames.
class Reply {
 public:
  Reply() = default;
  Reply(Packer packer, SharedFrames frames, const Envelope& envelope)
      : packer_(packer), frames_(std::move(frames)), envelope_(envelope) {}

  /// A reply that did not come as a message: the parts as the controller has them on record.
  static Reply of_record(const Json& header, const Json& metadata, const Json& content,
                         const std::vector<SharedBytes>& buffers);

  bool is_there() const { return frames_ != nullptr; }
  /// The parts; empty objects where they are malformed.
  Json content() const { return part(envelope_.content); }
  Json metadata() const { return part(envelope_.metadata); }
  Json header() const { return part(envelope_.header); }
  /// The content as JSON text, whatever it was packed by.
  std::string content_text() const;
  std::vector<SharedBytes> buffers() const;
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
      type;  ///< stream, display_data, execute_result, error, execute_input, data_message ...
  Json content;
  Json metadata;
  std::vector<SharedBytes> buffers;
};

/// Reads the failure out of the content of an error reply or an error publication.
/// engine  used where the content does not name one.
Failure read_failure(const Json& content, std::optional<EngineId> engine);

}  // namespace px
