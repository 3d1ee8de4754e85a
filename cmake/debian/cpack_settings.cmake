# Read by cpack: its program for dependencies on libraries is ours, which leaves MPI out.
set(SHLIBDEPS_EXECUTABLE ${CMAKE_CURRENT_LIST_DIR}/shlibdeps)
