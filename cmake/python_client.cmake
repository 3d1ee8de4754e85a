# polyxeus._client, the C++ client library for Python. Included where Python and pybind11 were
# found.

file(GLOB python_client_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/bindings/*.cpp)
pybind11_add_module(_client MODULE ${python_client_sources}
  ${CMAKE_SOURCE_DIR}/interpreters/python/python_buffers.cpp)
target_link_libraries(_client PRIVATE px_client px_magics px_build)
px_compile_together(_client)
set_target_properties(_client PROPERTIES CXX_VISIBILITY_PRESET hidden
                      LIBRARY_OUTPUT_DIRECTORY ${python_package})
if(SKBUILD)
  install(TARGETS _client DESTINATION polyxeus)
endif()
