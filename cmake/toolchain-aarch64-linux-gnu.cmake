# aarch64 Linux, static programs that run under qemu-user (Debian: g++-aarch64-linux-gnu qemu-user-static).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -pthread")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-cpu;max)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)  # never link the build machine's libraries
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
