# px_embed_headers(<name> <folder> <header>...): writes the text of the headers, in this order and
# without what includes headers of ours, as one string literal into
# generated/px_<name>.inc. Changes of a header make CMake run again.
function(px_embed_headers name folder)
  set(all "")
  foreach(header_name ${ARGN})
    set(header ${CMAKE_SOURCE_DIR}/${folder}/${header_name}.hpp)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(READ ${header} text)
    string(REPLACE "#pragma once\n" "" text "${text}")
    string(REGEX REPLACE "#include \"[^\n]*\n" "" text "${text}")
    string(APPEND all "${text}")
  endforeach()
  set(result ${CMAKE_BINARY_DIR}/generated/px_${name}.inc)
  file(WRITE ${result}.tmp "R\"px_${name}(${all})px_${name}\"\n")
  file(COPY_FILE ${result}.tmp ${result} ONLY_IF_DIFFERENT)
endfunction()
