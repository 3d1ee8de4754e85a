#include "kernel/log.hpp"

#include <fcntl.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <mutex>

#include "os/descriptor.hpp"
#include "os/written_file.hpp"
#include "program/log_level.hpp"

namespace px::kernel {
namespace {

class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit DescriptorSink(os::Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    (void)os::write_all(descriptor_.value(), {text.data(), text.size()});
  }
  void flush_() override {}

  os::Descriptor descriptor_;
};

}  // namespace

void start_log(int descriptor, const std::string& level) {
  os::Descriptor copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
  auto logger = std::make_shared<spdlog::logger>("pxkernel",
                                                 std::make_shared<DescriptorSink>(std::move(copy)));
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e [%n] %l: %v");
  const auto wanted = program::log_level_by_name(level);
  logger->set_level(wanted ? *wanted : spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace px::kernel
