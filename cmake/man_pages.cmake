# The manual pages of the programs, which write them themselves from the tables of their --help:
# share/man/man1, which man(1) finds for programs in the bin/ beside it.

set(px_man_folder ${CMAKE_BINARY_DIR}/man1)
set(px_man_commands "")
set(px_man_programs pxcluster pxcontroller pxengine pxkernel)
foreach(program ${px_man_programs})
  # CMake puts CMAKE_CROSSCOMPILING_EMULATOR before the name of a target.
  list(APPEND px_man_commands COMMAND ${program} --man-pages=${px_man_folder})
endforeach()
add_custom_command(OUTPUT ${px_man_folder}/pxcluster.1
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${px_man_folder}
  ${px_man_commands}
  DEPENDS ${px_man_programs}
  COMMENT "Writing the manual pages")
add_custom_target(px_man_pages ALL DEPENDS ${px_man_folder}/pxcluster.1)

if(SKBUILD)
  install(DIRECTORY ${px_man_folder} DESTINATION ${SKBUILD_DATA_DIR}/share/man)
else()
  install(DIRECTORY ${px_man_folder} DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()
