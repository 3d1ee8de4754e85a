# `cpack -G DEB` in a build with preset `debian`: the package polyxeus (programs, the Python package for the
# system's Python, the Jupyter kernel, manual pages, completions) and libpolyxeus-dev (the C++ client library).

set(px_python_packages lib/python3/dist-packages)
set(px_python_folder ${px_python_packages}/polyxeus)
install(DIRECTORY python/polyxeus/ DESTINATION ${px_python_folder}
        PATTERN __pycache__ EXCLUDE PATTERN resources EXCLUDE PATTERN resources_cpp EXCLUDE)
install(TARGETS _client _engine _kernel DESTINATION ${px_python_folder})
foreach(implementation openmpi mpich)
  if(TARGET polyxeus_mpi_${implementation})
    install(TARGETS polyxeus_mpi_${implementation} DESTINATION ${px_python_folder})
  endif()
endforeach()

# What pip would know of it, and the launchers for ipyparallel.
set(px_dist_info polyxeus-${PROJECT_VERSION}.dist-info)
execute_process(COMMAND ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/debian/dist_info.py
                        ${CMAKE_SOURCE_DIR}/pyproject.toml ${CMAKE_BINARY_DIR}/${px_dist_info}
                COMMAND_ERROR_IS_FATAL ANY)
install(DIRECTORY ${CMAKE_BINARY_DIR}/${px_dist_info} DESTINATION ${px_python_packages})

# The kernel of the system's Python, also for a Jupyter of another environment.
file(READ python/polyxeus/kernel/resources/kernel.json px_kernel_spec)
string(REPLACE "\"argv\": [\"python\"" "\"argv\": [\"/usr/bin/python3\"" px_kernel_spec "${px_kernel_spec}")
file(WRITE ${CMAKE_BINARY_DIR}/pxpython/kernel.json "${px_kernel_spec}")
install(FILES ${CMAKE_BINARY_DIR}/pxpython/kernel.json DESTINATION share/jupyter/kernels/pxpython)
install(DIRECTORY python/polyxeus/kernel/resources/ DESTINATION share/jupyter/kernels/pxpython
        FILES_MATCHING PATTERN "logo-*")

# Completions, from the tables of --help, where the shells look for them.
set(px_completions ${CMAKE_BINARY_DIR}/completions)
foreach(shell bash zsh fish)
  list(APPEND px_completion_commands
       COMMAND pxcluster completion ${shell} > ${px_completions}/${shell})
endforeach()
add_custom_command(OUTPUT ${px_completions}/fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${px_completions}
  ${px_completion_commands}
  DEPENDS pxcluster
  COMMENT "Writing the completions")
add_custom_target(px_completions ALL DEPENDS ${px_completions}/fish)
install(FILES ${px_completions}/bash DESTINATION share/bash-completion/completions RENAME pxcluster)
install(FILES ${px_completions}/zsh DESTINATION share/zsh/vendor-completions RENAME _pxcluster)
install(FILES ${px_completions}/fish DESTINATION share/fish/vendor_completions.d RENAME pxcluster.fish)
install(FILES LICENSE DESTINATION share/doc/polyxeus RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the authors of polyxeus <polyxeus@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# dpkg-shlibdeps, which asks for every library that a file loads; but an MPI is the user's own.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/debian/cpack_settings.cmake)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME polyxeus)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "A controller and N Python engines, \
under MPI where there is one, for notebooks, scripts and programs.")
math(EXPR px_next_python "${Python_VERSION_MINOR} + 1")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${px_next_python}), \
python3-ipython, python3-cloudpickle, python3-tqdm")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "python3-mpi4py, python3-numpy, man-db")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "jupyter, openmpi-bin, slurm-client")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
    ${CMAKE_SOURCE_DIR}/cmake/debian/postinst ${CMAKE_SOURCE_DIR}/cmake/debian/prerm)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libpolyxeus-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEV_DESCRIPTION "C++ client library of polyxeus\nHeaders, static libraries, \
the CMake package polyxeus and a file for pkg-config.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "nlohmann-json3-dev, libzmq3-dev, libssl-dev")
include(CPack)
