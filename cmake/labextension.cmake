# The tab of JupyterLab: the half in the browser (labextension/), made by npm (where there is none,
# scripts/labextension says so and the wheel is made without), and the file that lets the Jupyter
# server load the other half, polyxeus.lab. Only of wheels.

install(FILES labextension/config/polyxeus.json
        DESTINATION ${SKBUILD_DATA_DIR}/etc/jupyter/jupyter_server_config.d)

set(px_labextension ${CMAKE_BINARY_DIR}/labextension)
file(GLOB_RECURSE px_labextension_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/labextension/*)
add_custom_command(OUTPUT ${px_labextension}/package.json
  COMMAND ${CMAKE_SOURCE_DIR}/scripts/labextension --if-possible ${px_labextension}
  DEPENDS ${px_labextension_sources} ${CMAKE_SOURCE_DIR}/scripts/labextension
          ${CMAKE_SOURCE_DIR}/pyproject.toml
  COMMENT "Making the tab of JupyterLab"
  VERBATIM)
add_custom_target(px_labextension ALL DEPENDS ${px_labextension}/package.json)
install(DIRECTORY ${px_labextension}/ DESTINATION ${SKBUILD_DATA_DIR}/share/jupyter/labextensions/polyxeus)
