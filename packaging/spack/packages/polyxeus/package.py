try:  # Spack 1.0 and later keep the build systems in the repository of packages
    from spack_repo.builtin.build_systems.python import PythonPackage
except ImportError:
    pass

from spack.package import *


class Polyxeus(PythonPackage):
    """An interactive parallel computing cluster: live Python and C++ processes, under MPI if wanted, that notebooks,
    scripts and C++ programs use. It has the names of ipyparallel and speaks its wire protocol."""

    # The addresses and the checksum are set at publication: docs/release.md.
    homepage = "https://polyxeus.invalid"
    url = "https://polyxeus.invalid/releases/polyxeus-0.1.0.tar.gz"
    git = "https://polyxeus.invalid/polyxeus.git"

    license("BSD-3-Clause")

    version("0.1.0", sha256="0" * 64)

    variant("mpi", default=True, description="Start engines as MPI ranks; interrupt and name their MPI calls")
    variant("cpp", default=False, description="C++ engines and the C++ kernel, on LLVM 22")
    variant("jupyter", default=False, description="JupyterLab, in which the kernels are found")

    depends_on("python@3.9:", type=("build", "link", "run"))
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("py-pybind11@2.13:", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("libzmq@4.3.2:+libsodium")
    depends_on("cppzmq@4.9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("openssl@3:")
    depends_on("sqlite@3.40:")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10:+fmt_external")
    depends_on("cli11@2.1:")
    depends_on("boost@1.74:", type="build")  # headers alone
    depends_on("xeus@2.4")

    depends_on("py-ipython", type=("build", "run"))
    depends_on("py-cloudpickle", type=("build", "run"))
    depends_on("py-tqdm", type=("build", "run"))

    with when("+mpi"):
        depends_on("mpi")
        depends_on("py-mpi4py@4:", type="run")
    # The same LLVM at run time: it compiles the cells.
    depends_on("llvm@22+clang+llvm_dylib", when="+cpp")
    with when("+jupyter"):
        depends_on("py-jupyterlab@4:", type="run")
        depends_on("py-jupyter-client", type="run")

    conflicts("%gcc@:11", msg="polyxeus is C++20: GCC 12 or later")
    conflicts("platform=darwin", msg="polyxeus runs on Linux")
    conflicts("platform=windows", msg="polyxeus runs on Linux")

    def config_settings(self, spec, prefix):
        defined = {
            "PX_CPP": "ON" if spec.satisfies("+cpp") else "OFF",
            "CMAKE_INSTALL_RPATH_USE_LINK_PATH": "ON",
        }
        if spec.satisfies("+cpp"):
            defined["LLVM_DIR"] = join_path(spec["llvm"].prefix, "lib", "cmake", "llvm")
        if spec.satisfies("~mpi"):  # else the compiler of an MPI of the host is found
            for compiler in ("mpicc", "mpicc.openmpi", "mpicc.mpich"):
                defined[f"px_{compiler}"] = "OFF"
        return {f"cmake.define.{name}": value for name, value in defined.items()}

    def setup_run_environment(self, env):
        env.prepend_path("JUPYTER_PATH", join_path(self.prefix, "share", "jupyter"))

    def _run_on_two_engines(self, *options):
        folder = join_path(self.test_suite.stage, "ipython") if self.test_suite else "ipython"
        pxcluster = which(join_path(self.prefix.bin, "pxcluster"))
        pxcluster.add_default_env("IPYTHONDIR", folder)
        pxcluster("start", "-n", "2", "--daemonize", *options)
        try:
            return pxcluster("px", "print('hello')" if "--language=cpp" not in options else 'std::puts("hello");', output=str)
        finally:
            pxcluster("stop")

    def test_python_engines(self):
        """two Python engines on this host"""
        assert "hello" in self._run_on_two_engines()

    def test_mpi_engines(self):
        """two Python engines as MPI ranks"""
        if self.spec.satisfies("~mpi"):
            raise SkipTest("the package is built without MPI")
        assert "hello" in self._run_on_two_engines("--engines=mpi")

    def test_cpp_engines(self):
        """two C++ engines"""
        if self.spec.satisfies("~cpp"):
            raise SkipTest("the package is built without C++ engines")
        assert "hello" in self._run_on_two_engines("--language=cpp")
