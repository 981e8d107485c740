# One static library a folder, one program a folder with a main, one test program a folder under tests/.

add_library(tuneband_options INTERFACE)
target_compile_options(tuneband_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast)
target_include_directories(tuneband_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(tuneband_options INTERFACE
  TUNEBAND_VERSION="${PROJECT_VERSION}" BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A batch of .cpp files is an included file to the compiler, which then takes their local types for a header's.
  target_compile_options(tuneband_options INTERFACE -Wno-subobject-linkage)
endif()
if(TUNEBAND_WARNINGS_ARE_ERRORS)
  target_compile_options(tuneband_options INTERFACE -Werror)
endif()
if(TUNEBAND_SANITIZE)
  target_compile_options(tuneband_options INTERFACE -fsanitize=${TUNEBAND_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(tuneband_options INTERFACE -fsanitize=${TUNEBAND_SANITIZE})
  if(TUNEBAND_SANITIZE MATCHES "thread")
    target_compile_options(tuneband_options INTERFACE -Wno-tsan)
  endif()
  if(TUNEBAND_SANITIZE MATCHES "undefined")
    target_compile_options(tuneband_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()

# tuneband_library(NAME [COMPUTES] [FOLDERS folders...] [DEPENDS targets...]): every .cpp in this folder and those below it, but
# no main. COMPUTES: without optimisation the tests take long.
function(tuneband_library name)
  cmake_parse_arguments(ARG "COMPUTES" "" "FOLDERS;DEPENDS" ${ARGN})
  list(TRANSFORM ARG_FOLDERS APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp ${patterns})
  list(FILTER sources EXCLUDE REGEX "/([a-z_]+_)?main\\.cpp$")
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC tuneband_options ${ARG_DEPENDS})
  if(ARG_COMPUTES)
    target_compile_options(${name} PRIVATE ${TUNEBAND_COMPUTES_OPTIONS})
  endif()
endfunction()

# tuneband_program(NAME MAIN [DEPENDS targets...]): lands in bin/ of the build folder, and of where it is installed.
function(tuneband_program name main)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(${name} ${main})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  install(TARGETS ${name} RUNTIME)
endfunction()

# Of every test, in seconds: ends only what hangs, since a busy machine takes several times as long as a quiet one.
set(TUNEBAND_TEST_TIMEOUT 1200)

# tuneband_test(NAME [COST seconds] [DEPENDS targets...]): every *_test.cpp in this folder, as one test program. Those of a high
# cost begin first, so that none of them is left alone at the end.
function(tuneband_test name)
  cmake_parse_arguments(ARG "" "COST" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest_main GTest::gmock)
  target_compile_definitions(${name} PRIVATE
    TUNEBAND_SOURCE_DIR="${CMAKE_SOURCE_DIR}" TUNEBAND_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
  set(properties TIMEOUT ${TUNEBAND_TEST_TIMEOUT})
  if(TUNEBAND_SANITIZE)
    list(APPEND properties ENVIRONMENT TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/cmake/tsan.supp)
  endif()
  if(ARG_COST)
    list(APPEND properties COST ${ARG_COST})
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 PROPERTIES ${properties})
endfunction()
