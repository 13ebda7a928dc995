# s390x Linux, static programs that run under qemu-user (Debian: g++-s390x-linux-gnu qemu-user-static).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER s390x-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -pthread")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x-static)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)  # never link the build machine's libraries
set(CMAKE_FIND_ROOT_PATH /usr/s390x-linux-gnu)
