#include "engine/mpi_library/library.hpp"

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "engine/mpi_calls/mpi_steps.hpp"
#include "engine/mpi_library/cpp_world.hpp"

namespace {

std::unique_ptr<px::engine::MpiSteps>& steps() {
  static std::unique_ptr<px::engine::MpiSteps> joined;
  return joined;
}

/// Null where there are none, also when MPI is finalized.
px::engine::RankMessages* messages() {
  return steps() ? steps()->messages() : nullptr;
}

}  // namespace

int px_mpi_join(const px_mpi_hooks* hooks) {
  const px_mpi_hooks given = *hooks;
  steps() = px::engine::MpiSteps::join(
      true, {[given] { return given.is_interrupted(given.self) != 0; },
             [given](const std::string& where) { given.leave(given.self, where.c_str()); },
             [given](const std::string& why) { given.fail(given.self, why.c_str()); }, nullptr,
             [given]() -> std::optional<std::string> {
               const char* const why = given.why_broken(given.self);
               return why ? std::optional<std::string>(why) : std::nullopt;
             }});
  return steps() ? steps()->error_code() : 0;
}

void px_mpi_begin_cell(std::uint64_t number) {
  if (steps()) steps()->begin_cell(number);
}

void px_mpi_end_cell(const char* failure) {
  if (steps()) steps()->end_cell(failure ? std::optional<std::string>(failure) : std::nullopt);
}

void px_mpi_use_stop_point() {
  if (steps()) steps()->use_stop_point();
}

int px_mpi_tick() {
  if (!steps()) return -1;
  using std::chrono::milliseconds;
  return static_cast<int>(std::chrono::duration_cast<milliseconds>(steps()->tick()).count());
}

const char* px_mpi_mail(int* rank) {
  if (!messages()) return nullptr;
  *rank = messages()->rank();
  return messages()->group().c_str();
}

std::uint64_t px_mpi_send(int rank, int tag, const void* bytes, std::uint64_t size) {
  return messages() ? messages()->send(rank, tag, bytes, size) : 0;
}

std::uint64_t px_mpi_receive(int rank, int tag, void* bytes, std::uint64_t size) {
  return messages() ? messages()->receive(rank, tag, bytes, size) : 0;
}

int px_mpi_test(std::uint64_t request, std::uint64_t* size) {
  return messages() ? messages()->test(request, size) : -1;
}

long long px_mpi_take(int tag, int* rank, void* bytes, std::uint64_t capacity) {
  return messages() ? messages()->take(tag, rank, bytes, capacity) : -1;
}

// mpi4py finalizes MPI when the process exits; a cell may do so, too.
extern "C" int MPI_Finalize() {
  steps().reset();
  px::engine::end_cpp_world();
  return PMPI_Finalize();
}
