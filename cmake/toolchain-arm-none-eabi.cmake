# Bare-metal Arm Cortex-M with GCC and newlib-nano (Debian: gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib).
# JIG_CPU names the core: cortex-m7 (default), cortex-m55 (with Helium), cortex-m4, cortex-m33, cortex-m0plus.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # a test program would need a linker script

set(JIG_CPU cortex-m7 CACHE STRING "The core, as GCC's -mcpu names it")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES JIG_CPU)
set(flags "-mcpu=${JIG_CPU} -mthumb -ffunction-sections -fdata-sections")
if(NOT JIG_CPU STREQUAL "cortex-m0plus")
  string(APPEND flags " -mfloat-abi=hard")
endif()
set(CMAKE_C_FLAGS_INIT "${flags}")
set(CMAKE_ASM_FLAGS_INIT "${flags}")
set(CMAKE_CXX_FLAGS_INIT
  "${flags} -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit -fno-math-errno")
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-nostartfiles --specs=nano.specs --specs=nosys.specs -Wl,--gc-sections,--no-warn-rwx-segments")
