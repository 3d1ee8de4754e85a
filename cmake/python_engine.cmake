# polyxeus._engine and polyxeus._kernel, the C++ halves of the Python engine and the Python kernel,
# for the Python that is found.
# Where something is missing the rest is built without it.

find_package(Python 3.9 COMPONENTS Interpreter Development.Module)
if(NOT Python_Development.Module_FOUND)
  message(WARNING "No Python >= 3.9 with headers (python3-dev) was found: the Python engine is "
                  "not built. Name a Python by -DPython_EXECUTABLE=..., or silence this by "
                  "-DPX_PYTHON=OFF.")
  return()
endif()

if(NOT DEFINED pybind11_DIR)
  execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir
    OUTPUT_VARIABLE pybind11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(PYBIND11_FINDPYTHON ON)
find_package(pybind11 2.13 CONFIG QUIET)
if(NOT pybind11_FOUND)
  message(WARNING "pybind11 >= 2.13 was not found for ${Python_EXECUTABLE}: the Python engine is "
                  "not built. Run `${Python_EXECUTABLE} -m pip install pybind11`, or silence this "
                  "by -DPX_PYTHON=OFF.")
  return()
endif()

# For development: PYTHONPATH=<build>/python has the package, its Python files as links.
set(python_package ${CMAKE_BINARY_DIR}/python/polyxeus)
file(MAKE_DIRECTORY ${python_package})
file(GLOB python_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/python/polyxeus
  ${CMAKE_SOURCE_DIR}/python/polyxeus/*)
foreach(name ${python_files})
  if(NOT name STREQUAL "__pycache__")
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/polyxeus/${name} ${python_package}/${name} SYMBOLIC)
  endif()
endforeach()

# An extension module: the Python interpreter, a room, and what joins the two, in <room>/python.
function(px_python_module name room)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/interpreters/python/python_*.cpp)
  file(GLOB join CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${room}/python/*.cpp)
  pybind11_add_module(${name} MODULE ${sources} ${join})
  target_link_libraries(${name} PRIVATE px_${room} px_build)
  px_compile_together(${name})
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden
                        LIBRARY_OUTPUT_DIRECTORY ${python_package})
  if(SKBUILD)
    install(TARGETS ${name} DESTINATION polyxeus)
  endif()
endfunction()

px_python_module(_engine engine)
if(PX_DEMO)
  return()
endif()
px_python_module(_kernel kernel)

# The kernelspec of the environment into which the wheel is installed.
if(SKBUILD)
  install(DIRECTORY python/polyxeus/kernel/resources/
          DESTINATION ${SKBUILD_DATA_DIR}/share/jupyter/kernels/pxpython)
endif()

include(cmake/python_client.cmake)
