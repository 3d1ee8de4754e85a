// MPI's collective functions of files, in front of the MPI library's own (mpi_calls.cpp).

#include <mpi.h>

#include "engine/mpi_calls/calls.hpp"

extern "C" {

int MPI_File_open(MPI_Comm communicator, const char* name, int mode, MPI_Info info,
                  MPI_File* file) {
  PX_CALLED;
  return px::engine::make_shared("MPI_File_open", communicator, file, [&](MPI_Comm comm) {
    return PMPI_File_open(comm, name, mode, info, file);
  });
}

int MPI_File_close(MPI_File* file) {
  PX_CALLED;
  return px::engine::free_shared("MPI_File_close", file,
                                 [](MPI_File* closed) { return PMPI_File_close(closed); });
}

// PX_OF_FILE_AS: shown  without the suffix.
#define PX_OF_FILE_AS(shown, name, parameters, arguments)                      \
  int MPI_File_##name parameters {                                             \
    PX_CALLED;                                                                 \
    return px::engine::use_shared("MPI_File_" #shown, file,                    \
                                  [&] { return PMPI_File_##name arguments; }); \
  }
#define PX_OF_FILE(name, parameters, arguments) PX_OF_FILE_AS(name, name, parameters, arguments)
PX_OF_FILE(set_size, (MPI_File file, MPI_Offset size), (file, size))
PX_OF_FILE(preallocate, (MPI_File file, MPI_Offset size), (file, size))
PX_OF_FILE(set_info, (MPI_File file, MPI_Info info), (file, info))
PX_OF_FILE(set_view,
           (MPI_File file, MPI_Offset place, MPI_Datatype type, MPI_Datatype file_type,
            const char* format, MPI_Info info),
           (file, place, type, file_type, format, info))
PX_OF_FILE(set_atomicity, (MPI_File file, int is_atomic), (file, is_atomic))
PX_OF_FILE(seek_shared, (MPI_File file, MPI_Offset place, int whence), (file, place, whence))
PX_OF_FILE(sync, (MPI_File file), (file))

// Each as one call, and as one that begins: what ends it does not wait for others.
#define PX_DATA(name, suffix)                                                             \
  PX_OF_FILE_AS(                                                                          \
      name, name##suffix,                                                                 \
      (MPI_File file, PX_BUFFER, PX_COUNT count, MPI_Datatype type, MPI_Status * status), \
      (file, data, count, type, status))                                                  \
  PX_OF_FILE_AS(name##_begin, name##_begin##suffix,                                       \
                (MPI_File file, PX_BUFFER, PX_COUNT count, MPI_Datatype type),            \
                (file, data, count, type))
#define PX_DATA_AT(name, suffix)                                                                 \
  PX_OF_FILE_AS(name, name##suffix,                                                              \
                (MPI_File file, MPI_Offset place, PX_BUFFER, PX_COUNT count, MPI_Datatype type,  \
                 MPI_Status * status),                                                           \
                (file, place, data, count, type, status))                                        \
  PX_OF_FILE_AS(name##_begin, name##_begin##suffix,                                              \
                (MPI_File file, MPI_Offset place, PX_BUFFER, PX_COUNT count, MPI_Datatype type), \
                (file, place, data, count, type))

#define PX_COUNT int
#define PX_BUFFER void* data
PX_DATA(read_all, )
PX_DATA(read_ordered, )
PX_DATA_AT(read_at_all, )
#undef PX_BUFFER
#define PX_BUFFER const void* data
PX_DATA(write_all, )
PX_DATA(write_ordered, )
PX_DATA_AT(write_at_all, )
#undef PX_BUFFER
#undef PX_COUNT

#if MPI_VERSION >= 4
#define PX_COUNT MPI_Count
#define PX_BUFFER void* data
PX_DATA(read_all, _c)
PX_DATA(read_ordered, _c)
PX_DATA_AT(read_at_all, _c)
#undef PX_BUFFER
#define PX_BUFFER const void* data
PX_DATA(write_all, _c)
PX_DATA(write_ordered, _c)
PX_DATA_AT(write_at_all, _c)
#undef PX_BUFFER
#undef PX_COUNT
#endif
#undef PX_DATA
#undef PX_DATA_AT
#undef PX_OF_FILE
#undef PX_OF_FILE_AS

}  // extern "C"
