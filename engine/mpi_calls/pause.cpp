#include "engine/mpi_calls/pause.hpp"

#include <algorithm>
#include <thread>

namespace px::engine {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Many ranks that wait for one share the cores with it.
constexpr microseconds longest_step = milliseconds(20);

}  // namespace

bool Pause::operator()() {
  if (yields_) std::this_thread::yield();
  if (++looks_ % 64 != 0 && step_.count() < 1000) return false;
  const auto waited = Clock::now() - begin_;
  if (waited > std::chrono::seconds(1))
    step_ = std::min(std::chrono::duration_cast<microseconds>(waited / 250), longest_step);
  else if (waited > milliseconds(100))
    step_ = microseconds(200);
  else if (waited > milliseconds(5))
    step_ = microseconds(20);
  if (step_.count() > 0) std::this_thread::sleep_for(step_);
  return true;
}

}  // namespace px::engine
