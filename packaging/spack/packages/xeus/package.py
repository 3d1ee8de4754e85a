try:  # Spack 1.0 and later keep the build systems in the repository of packages
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass

from spack.package import *


class Xeus(CMakePackage):
    """The xeus 2.4 that polyxeus is built with. Spack's own package of this name may end at an older version."""

    homepage = "https://xeus.readthedocs.io"
    git = "https://github.com/jupyter-xeus/xeus.git"

    license("BSD-3-Clause")

    version("2.4.1", tag="2.4.1", commit="9886d9b77ff787533e7da0db40db868fcda75c64")

    depends_on("libzmq@4.3.2:+libsodium")
    depends_on("cppzmq@4.4.1:")
    depends_on("nlohmann-json@3.2:")
    depends_on("openssl")
    depends_on("uuid")
    depends_on("xtl@0.7")

    def cmake_args(self):
        return [self.define("XEUS_BUILD_STATIC_LIBS", False), self.define("XEUS_DISABLE_ARCH_NATIVE", True)]
