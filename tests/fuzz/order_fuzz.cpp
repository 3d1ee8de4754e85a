// An order or a request of any content for a kernel: it is answered, or waits for the main thread.

#include "tests/fuzz/input.hpp"

#include <array>
#include <variant>

#include "jupyter/request_queue.hpp"
#include "tests/wire/requests.hpp"

using namespace px;
using namespace px::jupyter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array types{"abort_request",   "signal_request",    "shutdown_request",
                             "usage_request",   "interrupt_request", "connect_request",
                             "execute_request", "debug_request"};
  FuzzInput input{data, size};
  const char* const type = types.at(input.byte() % types.size());
  const bool is_order = type != std::string_view("execute_request");
  const Result<Json> content = unpack(Packer::json, input.rest());
  testing::Sender sender;
  const RequestPtr request = is_order ? sender.order(type, content ? *content : Json::object())
                                      : sender.request(type, content ? *content : Json::object());
  const ReplyFormats formats{{std::make_shared<ReplyFormat>()}};
  RequestQueue queue{formats, std::size_t{1} << 20};
  bool is_answered = false;
  for (const Effect& effect : queue.arrive(request, WallTime{}))
    is_answered |= std::holds_alternative<SendReply>(effect) ||
                   std::holds_alternative<AnswerUsage>(effect) ||
                   std::holds_alternative<WakeMain>(effect);
  check(is_answered);
  return 0;
}
