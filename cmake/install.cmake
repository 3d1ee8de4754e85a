# `cmake --install`: the C++ client library and what it stands on, with their headers, the CMake
# package `polyxeus` (targets polyxeus::client, polyxeus::net, polyxeus::wire) and a pkg-config file.
# The programs install themselves.

set(px_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/polyxeus)

foreach(room wire net client)
  target_compile_features(px_${room} PUBLIC cxx_std_20)   # who uses it needs it too
  install(TARGETS px_${room} EXPORT polyxeus ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${room}/
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/px/${room} FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/generated/px_version.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT polyxeus NAMESPACE polyxeus:: FILE polyxeus-targets.cmake
        DESTINATION ${px_package_folder})

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/polyxeus-config.cmake.in
                              ${CMAKE_BINARY_DIR}/polyxeus-config.cmake
                              INSTALL_DESTINATION ${px_package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/polyxeus-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/polyxeus-config.cmake
              ${CMAKE_BINARY_DIR}/polyxeus-config-version.cmake
        DESTINATION ${px_package_folder})

configure_file(${CMAKE_SOURCE_DIR}/cmake/polyxeus.pc.in ${CMAKE_BINARY_DIR}/polyxeus.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/polyxeus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
