# The page of the dashboard, made by npm from dashboard/ (where there is none, scripts/dashboard says so and the
# controller shows no page). In a build tree it lies beside the programs, where pxcontroller looks for it as well.

set(px_dashboard ${CMAKE_BINARY_DIR}/dashboard)
file(GLOB_RECURSE px_dashboard_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/dashboard/*)
add_custom_command(OUTPUT ${px_dashboard}.made
  COMMAND ${CMAKE_SOURCE_DIR}/scripts/dashboard --if-possible ${px_dashboard}
  COMMAND ${CMAKE_COMMAND} -E touch ${px_dashboard}.made
  DEPENDS ${px_dashboard_sources} ${CMAKE_SOURCE_DIR}/scripts/dashboard ${CMAKE_SOURCE_DIR}/scripts/npm_build
  COMMENT "Making the page of the dashboard"
  VERBATIM)
add_custom_target(px_dashboard ALL DEPENDS ${px_dashboard}.made)
if(SKBUILD)
  install(DIRECTORY ${px_dashboard}/ DESTINATION ${SKBUILD_DATA_DIR}/share/polyxeus/dashboard)
else()
  install(DIRECTORY ${px_dashboard}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/polyxeus/dashboard)
endif()
