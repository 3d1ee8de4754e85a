#include "controller/hub/buffer_pickle.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace px::controller {
namespace {

// The opcodes of Python's pickle that a list of bytes is made of.
enum class Opcode : unsigned char {
  protocol = 0x80,
  frame = 0x95,
  mark = '(',
  empty_list = ']',
  append = 'a',
  appends = 'e',
  short_bytes = 'C',
  medium_bytes = 'B',
  long_bytes = 0x8e,
  memoize = 0x94,
  put = 'q',
  long_put = 'r',
  get = 'h',
  long_get = 'j',
  stop = '.',
};

void append_number(std::string& out, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((number >> (8 * i)) & 0xff);
}

void append_bytes(std::string& out, std::string_view bytes) {
  if (bytes.size() <= 0xff) {
    out += static_cast<char>(Opcode::short_bytes);
    append_number(out, bytes.size(), 1);
  } else if (bytes.size() <= std::numeric_limits<std::uint32_t>::max()) {
    out += static_cast<char>(Opcode::medium_bytes);
    append_number(out, bytes.size(), 4);
  } else {
    out += static_cast<char>(Opcode::long_bytes);
    append_number(out, bytes.size(), 8);
  }
  out += bytes;
}

/// The small part of Python's pickle machine that builds a list of bytes.
class Unpickler {
 public:
  explicit Unpickler(std::string_view pickle) : pickle_(pickle) {}

  Result<std::vector<std::string>> run() {
    bool is_stopped = false;
    while (!is_stopped)
      if (!step(is_stopped))
        return Error{ErrorKind::bad_input, "the stored buffers are no pickled list of bytes"};
    return std::move(items_);
  }

 private:
  enum class Kind { list, mark, bytes };
  struct Value {
    Kind kind = Kind::list;
    std::string_view bytes = {};
  };

  std::optional<std::uint64_t> number(std::size_t bytes) {
    if (pickle_.size() - at_ < bytes) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(pickle_[at_ + i])} << (8 * i);
    at_ += bytes;
    return value;
  }

  bool push_bytes(std::size_t length_bytes) {
    const auto length = number(length_bytes);
    if (!length || *length > pickle_.size() - at_) return false;
    stack_.push_back({Kind::bytes, pickle_.substr(at_, *length)});
    at_ += *length;
    return true;
  }

  bool remember(std::optional<std::uint64_t> index) {
    // Python numbers what it remembers one by one, so no index can leave a gap.
    if (!index || *index > memo_.size() || stack_.empty()) return false;
    if (memo_.size() == *index) memo_.emplace_back();
    memo_[*index] = stack_.back();
    return true;
  }

  bool recall(std::optional<std::uint64_t> index) {
    if (!index || *index >= memo_.size() || !memo_[*index]) return false;
    stack_.push_back(*memo_[*index]);
    return true;
  }

  /// Takes the values from `first` on off the stack and appends them to the list below them.
  bool collect(std::size_t first, std::size_t list) {
    if (list >= stack_.size() || stack_[list].kind != Kind::list) return false;
    for (std::size_t i = first; i < stack_.size(); ++i) {
      if (stack_[i].kind != Kind::bytes) return false;
      items_.emplace_back(stack_[i].bytes);
    }
    stack_.resize(list + 1);
    return true;
  }

  bool append_one() { return stack_.size() == 2 && collect(1, 0); }
  bool append_marked() {
    return stack_.size() >= 2 && stack_[1].kind == Kind::mark && collect(2, 0);
  }

  bool step(bool& is_stopped) {
    const auto opcode = number(1);
    if (!opcode) return false;
    switch (static_cast<Opcode>(*opcode)) {
      case Opcode::protocol:
        return number(1).has_value();
      case Opcode::frame:
        return number(8).has_value();
      case Opcode::mark:
        stack_.push_back({Kind::mark});
        return true;
      case Opcode::empty_list:
        stack_.push_back({Kind::list});
        return stack_.size() == 1;
      case Opcode::append:
        return append_one();
      case Opcode::appends:
        return append_marked();
      case Opcode::short_bytes:
        return push_bytes(1);
      case Opcode::medium_bytes:
        return push_bytes(4);
      case Opcode::long_bytes:
        return push_bytes(8);
      case Opcode::memoize:
        return remember(memo_.size());
      case Opcode::put:
        return remember(number(1));
      case Opcode::long_put:
        return remember(number(4));
      case Opcode::get:
        return recall(number(1));
      case Opcode::long_get:
        return recall(number(4));
      case Opcode::stop:
        is_stopped = true;
        return stack_.size() == 1 && stack_[0].kind == Kind::list;
    }
    return false;
  }

  std::string_view pickle_;
  std::size_t at_ = 0;
  std::vector<Value> stack_;
  std::vector<std::optional<Value>> memo_;
  std::vector<std::string> items_;
};

}  // namespace

std::string pickle_buffers(const std::vector<std::string_view>& buffers) {
  std::size_t bytes = 16;
  for (const std::string_view buffer : buffers) bytes += buffer.size() + 9;
  std::string out;
  out.reserve(bytes);
  out += static_cast<char>(Opcode::protocol);
  out += '\x04';
  out += static_cast<char>(Opcode::empty_list);
  out += static_cast<char>(Opcode::mark);
  for (const std::string_view buffer : buffers) append_bytes(out, buffer);
  out += static_cast<char>(Opcode::appends);
  out += static_cast<char>(Opcode::stop);
  return out;
}

Result<std::vector<std::string>> unpickle_buffers(std::string_view pickle) {
  return Unpickler(pickle).run();
}

}  // namespace px::controller
