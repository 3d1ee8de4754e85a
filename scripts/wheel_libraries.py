"""Makes what portable wheels are linked with: wheel_libraries.py [--arch=aarch64] [FOLDER]

--arch  for wheels of this architecture; default: x86_64
FOLDER  where it is kept; default: ~/.cache/polyxeus-wheels

Prints the folder of the result: glibc/ has glibc 2.28 for the linker, with the functions of newer ones that are
missing there; lib/ has the libraries that Debian has only for its own glibc, or with more than polyxeus needs;
for aarch64, sysroot/ has Debian's packages of this architecture (wheel_sysroot.py).
wheel_sources.json says what they are made of; what has been made is not made again. docs/wheels.md tells the reasons.
"""

import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import wheel_sysroot
from debian_packages import apt_options, host_sources, of_source_packages, run

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "scripts/wheel_sources.json"
NEWER = ROOT / "cmake/old_glibc/newer_functions.cpp"
UUID = ROOT / "cmake/old_glibc/uuid_generate.cpp"
PARTS_OF_THIS = [ROOT / "scripts" / name for name in ("wheel_libraries.py", "wheel_sysroot.py", "debian_packages.py")]
TOOLCHAIN = ROOT / "cmake/aarch64.cmake"
# Before 2.34 these were libraries of their own. Code that was compiled for later ones expects all of it in libc.
PARTS = ("libpthread.so.0", "libdl.so.2", "librt.so.1", "libresolv.so.2", "libutil.so.1")
LOADER = "libld.so.2"  # zig's name of what it makes for the loader, such as ld-linux-x86-64.so.2
SECTIONS = "-ffunction-sections -fdata-sections"  # the linker removes each function that nothing calls
COMPILE = ("-O2", "-DNDEBUG", "-fPIC", *SECTIONS.split(), "-std=c++17", "-c")
CRYPTO_NAMES = ("EVP_*", "HMAC_*", "RAND_*", "OSSL_PARAM_*", "CRYPTO_memcmp")  # what polyxeus and xeus call
ZMQ_OPTIONS = {
    "BUILD_SHARED": "OFF", "BUILD_STATIC": "ON", "BUILD_TESTS": "OFF", "WITH_PERF_TOOL": "OFF", "WITH_DOCS": "OFF",
    "WITH_LIBSODIUM": "ON", "ENABLE_CURVE": "ON", "WITH_OPENPGM": "OFF", "WITH_NORM": "OFF", "WITH_TLS": "OFF",
    "WITH_NSS": "OFF", "WITH_LIBBSD": "OFF", "ENABLE_DRAFTS": "OFF", "ENABLE_WS": "OFF", "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_POSITION_INDEPENDENT_CODE": "ON",
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A system and an architecture for which wheels are compiled, and the compiler."""

    name: str  # of zig's and of Debian's folders
    prefix: str = ""  # of the names of binutils
    compiler: tuple = ("g++",)
    sysroot: Path = Path("/")  # Debian's packages

    def archive(self, name):
        """A static library of Debian."""
        return self.sysroot / "usr/lib" / self.name / name

    def standard_library(self):
        """The folder of libstdc++.a."""
        if self.prefix:
            return wheel_sysroot.package_archive(self.sysroot, "libstdc++.a").parent
        return Path(run(*self.compiler, "-print-file-name=libstdc++.a").strip()).parent

    def tool(self, name):
        return self.prefix + name


def native():
    return Target("x86_64-linux-gnu")


def aarch64(sysroot):
    compiler = ("aarch64-linux-gnu-g++-12", f"--sysroot={sysroot}")
    return Target("aarch64-linux-gnu", "aarch64-linux-gnu-", compiler, sysroot)


def compile_with(*command, **options):
    """Runs a compiler, through ccache if it is installed."""
    return run(*(["ccache"] if shutil.which("ccache") else []), *command, **options)


def digest(target, packages):
    """Of all that the result depends on. packages  a text that names the versions of Debian's"""
    compiler = run(*target.compiler, "-dumpfullversion")
    files = [SOURCES, NEWER, UUID, TOOLCHAIN, *PARTS_OF_THIS]
    text = b"".join(each.read_bytes() for each in files) + compiler.encode() + packages.encode()
    return hashlib.sha256(text).hexdigest()[:12]


def installed_versions(wanted):
    """The versions of the packages of the host whose archives become part of the result."""
    return run("dpkg-query", "-W", *[part["package"] for part in wanted["archives"]])


def without_path(work):
    """The compiler's option for objects that are the same wherever they are made."""
    return f"-ffile-prefix-map={work}=."


def archive(target, path, objects):
    run(target.tool("ar"), "rcsD", path, *sorted(objects))


# ---------------------------------------------------------------- glibc


def zig(work, version):
    """The program zig of the Python package of this version."""
    place = work.parent.parent / f"ziglang-{version}"
    if not place.exists():
        run(sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target",
            work / "ziglang", f"ziglang=={version}")  # fmt: skip
        (work / "ziglang").rename(place)
    return place / "ziglang/zig"


def make_glibc(out, work, target, wanted):
    """zig holds the names and versions of all glibcs: it makes the libraries to link with, and the start of programs."""
    cache = work / "zig"
    (work / "main.c").write_text("int main(void) { return 0; }\n")
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    version = f"{target.name}.{wanted['glibc']}"
    run(zig(work, wanted["stubs"]["version"]), "cc", "-target", version, "-fPIE", "-pie", "-g0", "-o", "main",
        "main.c", cwd=work, env=environment)  # fmt: skip
    out.mkdir()
    for name in ("libc.so.6", "libm.so.6", *PARTS, LOADER, "Scrt1.o", "libc_nonshared.a"):
        (found,) = cache.glob(f"o/*/{name}")
        shutil.copy(found, out / name)
    shutil.copy(out / "Scrt1.o", out / "crt1.o")
    newer = work / "newer_functions.o"
    compile_with(*target.compiler, "-O2", "-fPIC", "-fno-exceptions", "-std=c++20", "-c", NEWER, "-o", newer)
    archive(target, out / "libnewer_functions.a", [newer])
    libc = f"GROUP ( libc.so.6 libnewer_functions.a libc_nonshared.a AS_NEEDED ( {' '.join((*PARTS, LOADER))} ) )"
    (out / "libc.so").write_text(f"/* The linker looks for these files in this folder. */\n{libc}\n")
    (out / "libm.so").write_text("GROUP ( libm.so.6 )\n")
    for name in PARTS:
        (out / name.rsplit(".", 1)[0]).write_text(f"GROUP ( AS_NEEDED ( {name} ) )\n")


# ---------------------------------------------------------------- libraries


def unpack_sources(work, packages):
    """-> {name: folder of its source}, with Debian's corrections."""
    sources = [(name, of_source_packages(text)) for name, text in host_sources()]
    options = apt_options(work / "apt", sources)
    run("apt-get", *options, "update", "-qq")
    found = {}
    for each in packages:
        wanted = f"{each['source']}={each['version']}"
        run("apt-get", *options, "source", "--download-only", "-qq", wanted, cwd=work)
        file = work / f"{each['source']}_{each['version'].split(':')[-1]}.dsc"
        # It holds the checksums of the other files, which dpkg-source checks.
        if hashlib.sha256(file.read_bytes()).hexdigest() != each["sha256"]:
            sys.exit(f"{file.name} has another checksum than scripts/wheel_sources.json says")
        found[each["name"]] = work / each["name"]
        run("dpkg-source", "--no-check", "-x", file, found[each["name"]], cwd=work)
    return found


def shared(target, out, glibc, archives, names=()):
    """One shared library of archives, which shows only these names (default: all), under a version of its own: neither are
    they taken for those of another copy in the process, nor the other way around.

    The version comes after an empty one, because the loader does not accept that the first one is hidden
    (hidden_versions).
    """
    script = out.with_suffix(".map")
    name = out.stem.upper()
    shown = f"{' '.join(f'{each};' for each in names)} local: *;" if names else "*;"
    script.write_text(f"{name}_EMPTY {{ }};\n{name} {{ global: {shown} }};\n")
    run(*target.compiler, "-shared", "-o", out, f"-B{glibc}", f"-L{glibc}", f"-L{target.standard_library()}",
        "-static-libstdc++", f"-Wl,-soname,{out.name}", f"-Wl,--version-script={script}",
        "-Wl,--allow-shlib-undefined", "-Wl,--gc-sections", "-Wl,-z,now", "-s",
        "-Wl,--whole-archive", *archives, "-Wl,--no-whole-archive")  # fmt: skip
    script.unlink()


def compile_sources(target, out, work, sources, *options):
    objects = []
    for source in sources:
        objects.append(work / f"{out.stem}-{source.stem}.o")
        compile_with(*target.compiler, *COMPILE, without_path(work), *options, source, "-o", objects[-1])
    archive(target, out, objects)


def make_zmq(target, out, work, source):
    build = work / "zmq-build"
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    options = [f"-D{name}={value}" for name, value in ZMQ_OPTIONS.items()]
    options += [f"-DCMAKE_{language}_FLAGS={without_path(work)} {SECTIONS}" for language in ("C", "CXX")]
    if target.prefix:
        options += [f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}", f"-DPX_SYSROOT={target.sysroot}"]
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", *launcher, *options)
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count()))
    run("cmake", "--build", build, "-j", jobs, "--target", "libzmq-static")
    shutil.copy(build / "lib/libzmq.a", out)


def make_standard_library(target, out, glibc, work):
    """libstdc++ as a shared library of our own, and libstdc++.so, which tells the linker to take it.

    The loader joins names of the kind STB_GNU_UNIQUE of all libraries of a process, whatever their versions: they become
    weak names, which are not joined with those of the process's libstdc++.
    """
    archive = target.standard_library() / "libstdc++.a"
    lines = [line.split() for line in run(target.tool("nm"), "--defined-only", archive).splitlines()]
    (work / "unique").write_text("\n".join(sorted({words[2] for words in lines if words[1:2] == ["u"]})))
    run(target.tool("objcopy"), f"--weaken-symbols={work / 'unique'}", archive, work / "libstdc++.a")
    library = out / "libpolyxeus_cxx.so"
    shared(target, library, glibc, [work / "libstdc++.a"])
    (out / "libstdc++.so").write_text(f"/* The linker looks for this file in this folder. */\nINPUT ( {library.name} )\n")


def make_libraries(out, glibc, work, target, wanted):
    out.mkdir()
    # These are in each program and module, so the wheel holds them once.
    make_standard_library(target, out, glibc, work)
    shared(target, out / "libpolyxeus_crypto.so", glibc, [target.archive("libcrypto.a")], CRYPTO_NAMES)
    compile_sources(target, out / "libuuid.a", work, [UUID])
    source = unpack_sources(work, wanted["compiled"])
    fmt, spdlog = source["fmt"], source["spdlog"]
    compile_sources(target, out / "libfmt.a", work, [fmt / "src/format.cc", fmt / "src/os.cc"], f"-I{fmt}/include")
    compile_sources(target, out / "libspdlog.a", work, [each for each in (spdlog / "src").glob("*.cpp") if each.stem != "fmt"],
                    "-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL", f"-I{spdlog}/include", f"-I{fmt}/include")  # fmt: skip
    make_zmq(target, work / "libzmq.a", work, source["libzmq"])
    shared(target, out / "libpolyxeus_zmq.so", glibc, [work / "libzmq.a", target.archive("libsodium.a")], ("zmq_*",))


def main(place, arch):
    wanted = json.loads(SOURCES.read_text())
    place.mkdir(parents=True, exist_ok=True)
    packages = wheel_sysroot.Sysroot(place, wanted) if arch == "aarch64" else None
    target = aarch64(Path("/")) if packages else native()
    result = place / f"{target.name}-{digest(target, packages.identity() if packages else installed_versions(wanted))}"
    if not result.exists():
        print("== compiling the libraries of portable wheels (once)", file=sys.stderr)
        with tempfile.TemporaryDirectory(dir=place) as temporary:
            work, made = Path(temporary) / "work", Path(temporary) / "made"
            for each in (work, made):
                each.mkdir()
            if packages:
                target = aarch64(made / "sysroot")
                packages.make(target.sysroot)
            make_glibc(made / "glibc", work, target, wanted)
            make_libraries(made / "lib", made / "glibc", work, target, wanted)
            made.rename(result)
    print(result)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--arch", choices=("x86_64", "aarch64"), default="x86_64")
    parser.add_argument("folder", nargs="?", type=Path, default=Path.home() / ".cache/polyxeus-wheels")
    words = parser.parse_args()
    main(words.folder, words.arch)
