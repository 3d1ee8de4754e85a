#include "engine/mpi_library/cell_errors.hpp"

#include <mpi.h>

#include <array>
#include <iostream>
#include <utility>

namespace px::engine {
namespace {

std::function<void(const std::string&)>& fail_cell() {
  static std::function<void(const std::string&)> fail;
  return fail;
}

std::string words_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  PMPI_Error_string(code, text.data(), &length);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

/// MPI finds errors in arguments before it begins with a call, and those of requests when it is
/// done with them: nothing of it is left half done by the exception.
void throw_error(int code) {
  fail_cell()(words_of(code));
  std::cerr << "pxengine: " << words_of(code) << std::endl;
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

void on_communicator_error(MPI_Comm*, int* code, ...) {
  throw_error(*code);
}

void on_file_error(MPI_File*, int* code, ...) {
  throw_error(*code);
}

}  // namespace

void hand_errors_to(std::function<void(const std::string& words)> fail) {
  fail_cell() = std::move(fail);
  MPI_Errhandler of_communicators = MPI_ERRHANDLER_NULL, of_files = MPI_ERRHANDLER_NULL;
  PMPI_Comm_create_errhandler(on_communicator_error, &of_communicators);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, of_communicators);
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, of_communicators);
  PMPI_File_create_errhandler(on_file_error, &of_files);
  PMPI_File_set_errhandler(MPI_FILE_NULL, of_files);  // that of files to be opened
}

}  // namespace px::engine
