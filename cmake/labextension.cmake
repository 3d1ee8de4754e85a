# The tab of JupyterLab: the half in the browser (labextension/), made by npm where it is there, and
# the file that lets the Jupyter server load the other half, polyxeus.lab. Only of wheels.

install(FILES labextension/config/polyxeus.json
        DESTINATION ${SKBUILD_DATA_DIR}/etc/jupyter/jupyter_server_config.d)

get_filename_component(px_beside_python "${Python_EXECUTABLE}" DIRECTORY)
find_program(px_npm npm HINTS ${px_beside_python})
if(NOT px_npm)
  message(WARNING "npm was not found: polyxeus is made without its tab in JupyterLab.")
  return()
endif()

set(px_labextension ${CMAKE_BINARY_DIR}/labextension)
file(GLOB_RECURSE px_labextension_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/labextension/*)
get_filename_component(px_beside_npm ${px_npm} DIRECTORY)
add_custom_command(OUTPUT ${px_labextension}/package.json
  COMMAND ${CMAKE_COMMAND} -E env "PATH=${px_beside_npm}:$ENV{PATH}"
          ${CMAKE_SOURCE_DIR}/scripts/labextension --if-possible ${px_labextension}
  DEPENDS ${px_labextension_sources} ${CMAKE_SOURCE_DIR}/scripts/labextension
          ${CMAKE_SOURCE_DIR}/pyproject.toml
  COMMENT "Making the tab of JupyterLab"
  VERBATIM)
add_custom_target(px_labextension ALL DEPENDS ${px_labextension}/package.json)
install(DIRECTORY ${px_labextension}/ DESTINATION ${SKBUILD_DATA_DIR}/share/jupyter/labextensions/polyxeus)
