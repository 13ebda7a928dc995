# Puts a GGUF model into a program that has no files: bytes in its constants, extents in a header.
#
#   jig_embed_model(my_firmware MODEL tiny.gguf NAME my_model [TYPE q8_0] [ARCH llama] [GGUF out.gguf])
#
# my_firmware may then #include "my_model.hpp", which defines `struct my_model` for jig::static_model. TYPE encodes the
# matrices anew; ARCH makes the build fail if the file has another architecture; GGUF also writes the embedded model as
# a file, to compare with on a PC. The compiler is GCC or clang and the object format ELF.
# The tool jig-embed runs on the build machine: -DJIG_EMBED=PATH, or the target of that name, or one found in PATH, or
# built from this checkout with the machine's own compiler.

# Sets `out` to the command that runs jig-embed and `depends` to what it depends on.
function(jig_find_embed out depends)
  get_filename_component(checkout ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.. ABSOLUTE)
  if(JIG_EMBED)
    set(${out} ${JIG_EMBED} PARENT_SCOPE)
    set(${depends} ${JIG_EMBED} PARENT_SCOPE)
    return()
  endif()
  if(NOT CMAKE_CROSSCOMPILING AND TARGET jig-embed)
    set(${out} jig-embed PARENT_SCOPE)
    set(${depends} jig-embed PARENT_SCOPE)
    return()
  endif()
  if(NOT EXISTS ${checkout}/examples/embed/main.cpp)
    find_program(JIG_EMBED jig-embed REQUIRED NO_CMAKE_FIND_ROOT_PATH)
    set(${out} ${JIG_EMBED} PARENT_SCOPE)
    set(${depends} ${JIG_EMBED} PARENT_SCOPE)
    return()
  endif()
  set(folder ${CMAKE_BINARY_DIR}/jig-embed-host)
  set(tool ${folder}/examples/jig-embed)
  if(NOT TARGET jig_embed_host)
    # The environment may name the cross compiler.
    set(plain ${CMAKE_COMMAND} -E env --unset=CXX --unset=CC --unset=CXXFLAGS --unset=CFLAGS --unset=LDFLAGS)
    add_custom_command(OUTPUT ${tool}
      COMMAND ${plain} ${CMAKE_COMMAND} -S ${checkout} -B ${folder} -DCMAKE_BUILD_TYPE=Release -DJIG_BUILD_TESTS=OFF
      COMMAND ${plain} ${CMAKE_COMMAND} --build ${folder} --target jig-embed
      DEPENDS ${checkout}/examples/embed/main.cpp
      COMMENT "Building jig-embed for this machine" VERBATIM)
    add_custom_target(jig_embed_host DEPENDS ${tool})
  endif()
  set(${out} ${tool} PARENT_SCOPE)
  set(${depends} jig_embed_host ${tool} PARENT_SCOPE)
endfunction()

function(jig_embed_model target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;NAME;TYPE;ARCH;GGUF" "")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_MODEL OR NOT arg_NAME)
    message(FATAL_ERROR "jig_embed_model(target MODEL file.gguf NAME identifier [TYPE type] [ARCH name] [GGUF file])")
  endif()
  get_filename_component(model ${arg_MODEL} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}-model)
  set(stem ${folder}/${arg_NAME})
  file(MAKE_DIRECTORY ${folder})
  jig_find_embed(tool tool_depends)
  set(options "")
  foreach(option TYPE ARCH GGUF)
    if(arg_${option})
      string(TOLOWER ${option} lower)
      list(APPEND options --${lower} ${arg_${option}})
    endif()
  endforeach()
  add_custom_command(OUTPUT ${stem}.hpp ${stem}.cpp ${stem}.bin
    COMMAND ${tool} ${model} --name ${arg_NAME} --output ${folder} ${options}
    DEPENDS ${model} ${tool_depends}
    COMMENT "Embedding ${arg_MODEL}" VERBATIM)
  # The bytes are assembler directives: nothing for a link-time optimiser, and they change with the blob.
  set_source_files_properties(${stem}.cpp PROPERTIES OBJECT_DEPENDS ${stem}.bin
    COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU,Clang>:-fno-lto>)
  target_sources(${target} PRIVATE ${stem}.cpp ${stem}.hpp)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
