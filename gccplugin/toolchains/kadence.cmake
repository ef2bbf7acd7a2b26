# SPDX-License-Identifier: GPL-2.0-or-later
# CMake: cmake -DCMAKE_TOOLCHAIN_FILE=…/kadence.cmake. The compilers stay those that CMake finds, and
# compile_commands.json does not change.
find_program(KADENCE_LAUNCH kadence-launch REQUIRED
	HINTS ${CMAKE_CURRENT_LIST_DIR}/../../bin ${CMAKE_CURRENT_LIST_DIR}/../../build/bin)
foreach(language C CXX Fortran)
	# A cache that the user asked for comes behind.
	set(CMAKE_${language}_COMPILER_LAUNCHER ${KADENCE_LAUNCH} $ENV{CMAKE_${language}_COMPILER_LAUNCHER})
	set(CMAKE_${language}_LINKER_LAUNCHER ${KADENCE_LAUNCH})
endforeach()
