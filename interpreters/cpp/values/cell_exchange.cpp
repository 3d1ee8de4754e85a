#include "interpreters/cpp/values/cell_exchange.hpp"

#include "wire/error.hpp"

namespace px::cpp {
namespace {

CellExchange* installed_exchange = nullptr;  // C functions have no other way to it

}  // namespace

CellExchange::~CellExchange() {
  if (installed_exchange == this) installed_exchange = nullptr;
}

void CellExchange::install() {
  installed_exchange = this;
}

CellExchange& CellExchange::installed() {
  check(installed_exchange != nullptr);
  return *installed_exchange;
}

void CellExchange::on_display(Display display) {
  const std::lock_guard lock(mutex_);
  display_ = std::move(display);
}

void CellExchange::show(MimeBundle bundle, bool is_value) {
  Display display;
  {
    const std::lock_guard lock(mutex_);
    if (is_value) {
      shown_ = std::move(bundle);
      return;
    }
    display = display_;
  }
  if (display) display(bundle);
}

void CellExchange::on_named_display(NamedDisplay display) {
  const std::lock_guard lock(mutex_);
  named_display_ = std::move(display);
}

void CellExchange::show_as(MimeBundle bundle, const DisplayName& name) {
  NamedDisplay display;
  {
    const std::lock_guard lock(mutex_);
    display = named_display_;
  }
  if (display) display(bundle, name);
}

void CellExchange::on_clear(std::function<void(bool waits)> clear) {
  const std::lock_guard lock(mutex_);
  clear_ = std::move(clear);
}

void CellExchange::clear_output(bool waits) {
  std::function<void(bool)> clear;
  {
    const std::lock_guard lock(mutex_);
    clear = clear_;
  }
  if (clear) clear(waits);
}

std::optional<MimeBundle> CellExchange::take_shown() {
  const std::lock_guard lock(mutex_);
  return std::exchange(shown_, std::nullopt);
}

void CellExchange::put_arguments(std::vector<CellArguments::Argument> arguments) {
  answers_.clear();
  arguments_ = std::make_unique<CellArguments>(std::move(arguments));
}

void CellExchange::drop_arguments() {
  arguments_ = std::make_unique<CellArguments>();
}

void (*CellExchange::bound(int number) const)() {
  const auto found = code_.find(number);
  return found == code_.end() ? nullptr : found->second;
}

}  // namespace px::cpp
