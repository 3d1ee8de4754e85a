#include "net/zmtp/zmtp.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

namespace px::net {
namespace {

constexpr std::size_t greeting_bytes = 64, mechanism_at = 12, mechanism_bytes = 20;
constexpr unsigned char more_flag = 1, long_flag = 2, command_flag = 4;
/// Longer frames get memory of their own, into which they are read.
constexpr std::size_t long_frame = std::size_t{16} << 10;
constexpr std::size_t longest_command = std::size_t{64} << 10;
/// So much memory for short frames stays with a connection.
constexpr std::size_t longest_kept_text = std::size_t{16} << 10;
/// A frame that is sent without a copy costs a piece of its own.
constexpr std::size_t least_reference = 4096;

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char each : bytes) value = value << 8 | static_cast<unsigned char>(each);
  return value;
}

void add_big_endian(std::string& text, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
}

/// The head of a frame and its body.
std::string command(std::string_view name, std::string_view data) {
  const std::string body = static_cast<char>(name.size()) + std::string(name) + std::string(data);
  const bool is_long = body.size() > 255;
  std::string frame(1, static_cast<char>(command_flag | (is_long ? long_flag : 0)));
  add_big_endian(frame, body.size(), is_long ? 8 : 1);
  return frame + body;
}

void add_property(std::string& data, std::string_view name, std::string_view value) {
  data += static_cast<char>(name.size());
  data += name;
  add_big_endian(data, value.size(), 4);
  data += value;
}

/// The first bytes of `data`, which it loses; nothing where it has fewer.
std::optional<std::string_view> cut(std::string_view& data, std::uint64_t bytes) {
  if (bytes > data.size()) return std::nullopt;
  const std::string_view taken = data.substr(0, bytes);
  data.remove_prefix(bytes);
  return taken;
}

std::optional<std::string_view> cut_counted(std::string_view& data, std::size_t count_bytes) {
  const auto count = cut(data, count_bytes);
  return count ? cut(data, big_endian(*count)) : std::nullopt;
}

std::optional<ZmtpPeer> read_properties(std::string_view data) {
  ZmtpPeer peer;
  while (!data.empty()) {
    const auto name = cut_counted(data, 1);
    const auto value = name ? cut_counted(data, 4) : std::nullopt;
    if (!value) return std::nullopt;
    if (*name == "Socket-Type") peer.socket_type = *value;
    if (*name == "Identity") peer.identity = *value;
  }
  return peer;
}

}  // namespace

std::string zmtp_greeting() {
  std::string greeting(greeting_bytes, '\0');
  greeting[0] = '\xff';
  greeting[9] = '\x7f';
  greeting[10] = 3;  // the version, 3.0
  greeting.replace(mechanism_at, 4, "NULL");
  return greeting;
}

std::string zmtp_ready(std::string_view socket_type, std::string_view identity) {
  std::string data;
  add_property(data, "Socket-Type", socket_type);
  add_property(data, "Identity", identity);
  return command("READY", data);
}

// ---------------------------------------------------------------- what comes

/// The short frames lie in one piece of memory.
class ZmtpDecoder::Message final : public HeldFrames {
 public:
  Message(std::string_view first_frame, const std::string& text, std::vector<Part>& parts)
      : text_(new char[first_frame.size() + text.size()]) {
    const bool has_first = !first_frame.empty();
    frames_.reserve(parts.size() + has_first);
    if (has_first) first_frame.copy(text_.get(), first_frame.size());
    char* const rest = text_.get() + first_frame.size();
    text.copy(rest, text.size());
    if (has_first) frames_.emplace_back(text_.get(), first_frame.size());
    for (Part& part : parts) {
      frames_.emplace_back(part.long_bytes ? part.long_bytes.get() : rest + part.offset, part.size);
      if (part.long_bytes) long_bytes_.push_back(std::move(part.long_bytes));
    }
  }
  std::size_t size() const override { return frames_.size(); }
  std::string_view at(std::size_t index) const override { return frames_.at(index); }

 private:
  std::unique_ptr<char[]> text_;
  std::vector<std::unique_ptr<char[]>> long_bytes_;
  std::vector<std::string_view> frames_;
};

std::span<char> ZmtpDecoder::target() {
  if (step_ != Step::body || parts_.empty() || frame_count_ > max_frames_) return {};
  if (!parts_.back().long_bytes) return {};
  const Part& part = parts_.back();
  return {part.long_bytes.get() + (part.size - missing_), missing_};
}

void ZmtpDecoder::filled(std::size_t bytes) {
  missing_ -= bytes;
  if (missing_ == 0) end_frame();
}

bool ZmtpDecoder::feed(std::string_view bytes) {
  const auto fill_head = [&](std::size_t size) {
    const std::size_t taken = std::min(size - std::min(size, head_.size()), bytes.size());
    head_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    return head_.size() >= size;
  };
  while (!bytes.empty()) {
    if (step_ == Step::greeting) {
      if (fill_head(greeting_bytes) && !take_greeting()) return false;
    } else if (step_ == Step::head) {
      const bool has_flags = fill_head(1);
      const bool is_long = has_flags && (head_[0] & long_flag) != 0;
      if (has_flags && fill_head(is_long ? 9 : 2) && !take_head()) return false;
    } else {
      const std::string_view part = bytes.substr(0, missing_);
      bytes.remove_prefix(part.size());
      if (const std::span<char> place = target(); !place.empty())
        part.copy(place.data(), part.size());
      else if (is_command_ || frame_count_ <= max_frames_)
        text_ += part;
      missing_ -= part.size();
      if (missing_ == 0 && !end_frame()) return false;
    }
  }
  return true;
}

bool ZmtpDecoder::take_greeting() {
  const std::string_view mechanism = std::string_view(head_).substr(mechanism_at, mechanism_bytes);
  const bool is_known = head_[0] == '\xff' && (head_[9] & 1) != 0 && head_[10] >= 3 &&
                        mechanism.substr(0, mechanism.find('\0')) == "NULL";
  head_.clear();
  step_ = Step::head;
  return is_known;
}

bool ZmtpDecoder::take_head() {
  const auto flags = static_cast<unsigned char>(head_[0]);
  const std::uint64_t size = big_endian(std::string_view(head_).substr(1));
  head_.clear();
  is_more_ = (flags & more_flag) != 0;
  is_command_ = (flags & command_flag) != 0;
  if (flags > (more_flag | long_flag | command_flag)) return false;
  if (is_command_ ? is_more_ || size > longest_command || frame_count_ > 0
                  : !is_open_ || (max_frame_bytes_ >= 0 &&
                               size > static_cast<std::uint64_t>(max_frame_bytes_)))
    return false;
  missing_ = size;
  step_ = Step::body;
  if (!is_command_ && ++frame_count_ <= max_frames_) {
    Part part{text_.size(), missing_, nullptr};
    if (missing_ > long_frame) {
      part.long_bytes.reset(new (std::nothrow) char[missing_]);
      if (!part.long_bytes) return false;
    }
    parts_.push_back(std::move(part));
  }
  return missing_ > 0 || end_frame();
}

bool ZmtpDecoder::end_frame() {
  step_ = Step::head;
  if (is_command_) return take_command();
  if (!is_more_) end_message();
  return true;
}

bool ZmtpDecoder::take_command() {
  const std::string whole = std::exchange(text_, {});
  std::string_view data = whole;
  const auto name = cut_counted(data, 1);
  if (!name || *name == "ERROR") return false;
  if (*name == "READY" && !is_open_) {
    const std::optional<ZmtpPeer> peer = read_properties(data);
    return is_open_ = peer && on_peer_(*peer);
  }
  if (!is_open_) return false;
  constexpr std::size_t ttl_bytes = 2;
  if (*name == "PING" && cut(data, ttl_bytes)) pong_ = command("PONG", data);
  return true;  // what we do not know is for others
}

void ZmtpDecoder::end_message() {
  if (frame_count_ > max_frames_)
    ++dropped_;
  else
    messages_.push_back(std::make_shared<Message>(first_frame_, text_, parts_));
  text_.clear();
  if (text_.capacity() > longest_kept_text) text_.shrink_to_fit();
  parts_.clear();
  frame_count_ = 0;
}

SharedFrames ZmtpDecoder::take() {
  if (messages_.empty()) return nullptr;
  SharedFrames message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

// ---------------------------------------------------------------- what goes

void ZmtpMessage::add_head(std::size_t size, bool more) {
  const bool is_long = size > 255;
  text_ += static_cast<char>((more ? more_flag : 0) | (is_long ? long_flag : 0));
  add_big_endian(text_, size, is_long ? 8 : 1);
  size_ += (is_long ? 9 : 2) + size;
}

void ZmtpMessage::add(std::string_view frame, bool more) {
  add_head(frame.size(), more);
  text_ += frame;
}

void ZmtpMessage::add(std::string_view frame, bool more, std::shared_ptr<const void> owner) {
  if (frame.size() < least_reference) return add(frame, more);
  add_head(frame.size(), more);
  references_.push_back({text_.size(), frame, std::move(owner)});
}

void ZmtpQueue::push(ZmtpMessage message) {
  bytes_ += message.size();
  messages_.push_back(std::move(message));
}

std::vector<std::string_view> ZmtpQueue::pieces(std::size_t most) const {
  std::vector<std::string_view> pieces;
  std::size_t left_out = begun_;
  const auto add = [&](std::string_view piece) {
    const std::size_t cut_off = std::min(left_out, piece.size());
    left_out -= cut_off;
    piece.remove_prefix(cut_off);
    if (!piece.empty() && pieces.size() < most) pieces.push_back(piece);
  };
  for (const ZmtpMessage& message : messages_) {
    if (pieces.size() >= most) break;
    std::size_t at = 0;
    for (const ZmtpMessage::Reference& reference : message.references_) {
      add(std::string_view(message.text_).substr(at, reference.at - at));
      add(reference.bytes);
      at = reference.at;
    }
    add(std::string_view(message.text_).substr(at));
  }
  return pieces;
}

void ZmtpQueue::written(std::size_t bytes) {
  bytes_ -= bytes;
  begun_ += bytes;
  while (!messages_.empty() && begun_ >= messages_.front().size()) {
    begun_ -= messages_.front().size();
    messages_.pop_front();
  }
}

void ZmtpQueue::drop_begun() {
  if (begun_ > 0) written(messages_.front().size() - begun_);
}

}  // namespace px::net
