# The toolchain of wheels for aarch64 that are made on another kind of machine: Debian's cross compiler, with the
# packages that scripts/wheel_sysroot.py unpacked into the folder PX_SYSROOT. See docs/wheels.md.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PX_SYSROOT)

set(CMAKE_SYSROOT ${PX_SYSROOT})
set(CMAKE_FIND_ROOT_PATH ${PX_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${PX_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${PX_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${PX_SYSROOT}/usr/share/pkgconfig)

# The programs write their manual pages while the wheel is made.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${PX_SYSROOT})
