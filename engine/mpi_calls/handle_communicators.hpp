#pragma once

#include <mpi.h>

#include <map>

namespace px::engine {

/// The files and windows of the cells, each with the communicator on which its roll calls are held.
class HandleCommunicators {
 public:
  /// The communicator of a file that was just made.
  MPI_Comm& own(MPI_File file) { return files_[file]; }
  MPI_Comm& own(MPI_Win window) { return windows_[window]; }
  /// MPI_COMM_NULL if no roll calls are held on it.
  MPI_Comm find(MPI_File file) const { return find(files_, file); }
  MPI_Comm find(MPI_Win window) const { return find(windows_, window); }
  /// Returns it and forgets it.
  MPI_Comm take(MPI_File file) { return take(files_, file); }
  MPI_Comm take(MPI_Win window) { return take(windows_, window); }

 private:
  template <typename Handle>
  static MPI_Comm find(const std::map<Handle, MPI_Comm>& handles, Handle handle) {
    const auto found = handles.find(handle);
    return found == handles.end() ? MPI_COMM_NULL : found->second;
  }
  template <typename Handle>
  static MPI_Comm take(std::map<Handle, MPI_Comm>& handles, Handle handle) {
    const MPI_Comm found = find(handles, handle);
    handles.erase(handle);
    return found;
  }

  std::map<MPI_File, MPI_Comm> files_;
  std::map<MPI_Win, MPI_Comm> windows_;
};

}  // namespace px::engine
