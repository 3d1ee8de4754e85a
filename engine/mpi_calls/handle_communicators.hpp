#pragma once

#include <mpi.h>

#include <map>

namespace px::engine {

/// An intercommunicator of the cells: a type of its own, as some MPI libraries have one type for
/// all handles.
struct Intercommunicator {
  MPI_Comm handle;
  bool operator<(const Intercommunicator& other) const { return handle < other.handle; }
};

/// The files, windows and intercommunicators of the cells, each with the communicator of its ranks
/// on which its roll calls are held.
class HandleCommunicators {
 public:
  /// The communicator of a file that was just made.
  MPI_Comm& own(MPI_File file) { return files_[file]; }
  MPI_Comm& own(MPI_Win window) { return windows_[window]; }
  MPI_Comm& own(Intercommunicator between) { return between_[between]; }
  /// MPI_COMM_NULL if no roll calls are held on it.
  MPI_Comm find(MPI_File file) const { return find(files_, file); }
  MPI_Comm find(MPI_Win window) const { return find(windows_, window); }
  MPI_Comm find(Intercommunicator between) const { return find(between_, between); }
  /// Returns it and forgets it.
  MPI_Comm take(MPI_File file) { return take(files_, file); }
  MPI_Comm take(MPI_Win window) { return take(windows_, window); }
  MPI_Comm take(Intercommunicator between) { return take(between_, between); }

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
  std::map<Intercommunicator, MPI_Comm> between_;
};

}  // namespace px::engine
