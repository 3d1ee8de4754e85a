# `cmake --install`: the C++ client library, the headers that its users need, the CMake package
# `polyxeus` (target polyxeus::client) and a pkg-config file. The programs install themselves.

set(px_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/polyxeus)

foreach(room wire os net client)            # the client library and what it stands on
  target_compile_features(px_${room} PUBLIC cxx_std_20)   # who uses it needs it too
  install(TARGETS px_${room} EXPORT polyxeus ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
endforeach()
install(EXPORT polyxeus NAMESPACE polyxeus:: FILE polyxeus-targets.cmake
        DESTINATION ${px_package_folder} COMPONENT dev)

# What `#include <polyxeus/client.hpp>` reads, all of it; tests/layout compares this list with what
# the headers include. They lie below include/polyxeus/ and include each other from there.
set(px_public_headers
  client/async_result.hpp
  client/balanced_view.hpp
  client/block.hpp
  client/client.hpp
  client/connection/engine_change.hpp
  client/connection/silence.hpp
  client/direct_view.hpp
  client/error.hpp
  client/map_stream.hpp
  client/polyxeus_client.hpp
  client/requests/client_error.hpp
  client/requests/function.hpp
  client/requests/task_info.hpp
  client/targets.hpp
  wire/array.hpp
  wire/envelope.hpp
  wire/error.hpp
  wire/frames.hpp
  wire/ids.hpp
  wire/json.hpp
  wire/shared_bytes.hpp
  wire/time.hpp
  wire/value.hpp)

set(px_headers_folder ${CMAKE_BINARY_DIR}/public_headers)
file(REMOVE_RECURSE ${px_headers_folder})
foreach(header ${px_public_headers})
  set(installed_name ${header})
  if(header STREQUAL "client/polyxeus_client.hpp")
    set(installed_name client.hpp)
  endif()
  file(READ ${CMAKE_SOURCE_DIR}/${header} text)
  string(REGEX REPLACE "#include \"([^\"\n]+)\"" "#include <polyxeus/\\1>" text "${text}")
  string(REPLACE "#include <px_version.hpp>" "#include <polyxeus/version.hpp>" text "${text}")
  file(WRITE ${px_headers_folder}/${installed_name} "${text}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${header})
endforeach()
file(COPY_FILE ${CMAKE_BINARY_DIR}/generated/px_version.hpp ${px_headers_folder}/version.hpp)
install(DIRECTORY ${px_headers_folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/polyxeus
        COMPONENT dev FILES_MATCHING PATTERN "*.hpp")

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/polyxeus-config.cmake.in
                              ${CMAKE_BINARY_DIR}/polyxeus-config.cmake
                              INSTALL_DESTINATION ${px_package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/polyxeus-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/polyxeus-config.cmake
              ${CMAKE_BINARY_DIR}/polyxeus-config-version.cmake
        DESTINATION ${px_package_folder} COMPONENT dev)

configure_file(${CMAKE_SOURCE_DIR}/cmake/polyxeus.pc.in ${CMAKE_BINARY_DIR}/polyxeus.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/polyxeus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
