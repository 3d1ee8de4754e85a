# A wheel that runs with an older glibc than that of this host, and needs no library but glibc and libgcc: PX_PORTABLE
# names what scripts/wheel_libraries.py made. Compiled as ever, with the headers of this host; only linked otherwise:
# with libraries made for it, most of them static, and with the older glibc, which refuses a function that it lacks.
# See docs/wheels.md.

set(px_multiarch ${CMAKE_SYSROOT}/usr/lib/${CMAKE_CXX_LIBRARY_ARCHITECTURE})

# Takes this file for the library of a package that was found.
function(px_take target path)
  if(NOT EXISTS ${path})
    message(FATAL_ERROR "There is no ${path}: install what scripts/setup installs")
  endif()
  foreach(kind "" _NONE _RELEASE)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION${kind} ${path} IMPORTED_SONAME${kind} "")
  endforeach()
endfunction()

px_take(fmt::fmt ${PX_PORTABLE}/lib/libfmt.a)
px_take(spdlog::spdlog ${PX_PORTABLE}/lib/libspdlog.a)
px_take(OpenSSL::Crypto ${PX_PORTABLE}/lib/libpolyxeus_crypto.so)
px_take(SQLite::SQLite3 ${px_multiarch}/libsqlite3.a)
px_take(LibUUID::LibUUID ${PX_PORTABLE}/lib/libuuid.a)
px_take(xeus ${px_multiarch}/libxeus.a)
px_take(libzmq ${PX_PORTABLE}/lib/libpolyxeus_zmq.so)   # as xeus names it
set_target_properties(PkgConfig::ZeroMQ PROPERTIES INTERFACE_LINK_LIBRARIES ${PX_PORTABLE}/lib/libpolyxeus_zmq.so)

# Error messages and std::source_location name a source from the root of the tree, so the folder of the
# checkout is not in the wheel: the same sources give the same bytes in each folder.
file(RELATIVE_PATH px_root_from_build ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})   # ccache passes such paths on
add_compile_options(-ffile-prefix-map=${px_root_from_build}=)
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(CMAKE_SYSROOT)   # headers are named as on the target
  add_compile_options(-ffile-prefix-map=${CMAKE_SYSROOT}/=/)
endif()

# -B: where the compiler looks for the start of programs. lib/libstdc++.so names a library that the wheel
# contains. --exclude-libs: a module shows none of its own libraries'
# names, so that it meets no other copy of them in the process. --allow-shlib-undefined: libgcc_s of this host needs
# this host's glibc; that of the host where the wheel is installed is loaded.
add_link_options(-B${PX_PORTABLE}/glibc -L${PX_PORTABLE}/glibc -L${PX_PORTABLE}/lib
                 -Wl,--exclude-libs,ALL -Wl,--allow-shlib-undefined -Wl,--gc-sections)
if(CMAKE_CROSSCOMPILING)   # libstdc++.a is Debian's for the target, as the list of parts says, not that of the cross compiler
  file(GLOB px_standard_library ${CMAKE_SYSROOT}/usr/lib/gcc/${CMAKE_CXX_LIBRARY_ARCHITECTURE}/*/libstdc++.a)
  get_filename_component(px_standard_library ${px_standard_library} DIRECTORY)
  add_link_options(-L${px_standard_library})
endif()

# Called when all targets are known.
function(px_hide_names)   # MODULE ...
  foreach(module ${ARGN})
    if(TARGET ${module})
      target_link_options(${module} PRIVATE
                          -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/old_glibc/module_names.map)
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL px_hide_names _engine _kernel _client)

# Debian's archive of xeus is not compiled for shared libraries: there it cannot use variables of another library, so these
# modules contain the parts of libstdc++ that they use.
function(px_static_standard_library)   # MODULE ...
  foreach(module ${ARGN})
    if(TARGET ${module})
      target_link_options(${module} PRIVATE -static-libstdc++)
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL px_static_standard_library _engine _kernel)

# In rooms that several programs link, each function gets a section of its own, so that --gc-sections removes what a
# program does not call: the files of a room are compiled together, so all of it would be in each program.
function(px_cut_rooms)   # ROOM ...
  foreach(room ${ARGN})
    target_compile_options(px_${room} PRIVATE -ffunction-sections -fdata-sections)
    set_target_properties(px_${room} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endforeach()
endfunction()
cmake_language(DEFER CALL px_cut_rooms wire os net program interpreters jupyter controller)
