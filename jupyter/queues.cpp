#include "jupyter/queues.hpp"

namespace px::jupyter {
namespace {

constexpr Duration patience = std::chrono::milliseconds(50);  // between looks at interrupts

}  // namespace

std::optional<std::string> Queues::ask_user(const std::string& prompt, bool is_password,
                                            const std::function<bool()>& is_interrupted) {
  inputs.expect();
  outgoing.ask_user(outgoing.request(),
                    pack(Packer::json, {{"prompt", prompt}, {"password", is_password}}));
  return await_answer(std::nullopt, is_interrupted);
}

std::optional<std::string> Queues::await_answer(std::optional<Instant> deadline,
                                                const std::function<bool()>& is_interrupted) {
  for (;;) {
    if (std::optional<std::string> answer = inputs.wait(patience)) return answer;
    if (is_interrupted() || (deadline && Clock::now() >= *deadline)) return std::nullopt;
  }
}

}  // namespace px::jupyter
