"""The wheel polyxeus-cpp: the C++ engine and kernel with the clang that compiles their cells.

It goes with the wheel polyxeus of the same version, serves every Python, and has in lib/polyxeus/llvm
of the environment what these programs need but a C++ standard library, its headers and an MPI.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

# In the .data of the wheel that was built.
FILES = ("scripts/pxengine-cpp", "scripts/pxkernel-cpp", "data/share/jupyter/kernels/pxcpp")
PROGRAMS = ("pxengine-cpp", "pxkernel-cpp")
LLVM = Path(os.environ.get("POLYXEUS_LLVM", "/usr/lib/llvm-22"))
# What each Linux with a C++ compiler has, or its standard library alone.
OF_THE_SYSTEM = re.compile(
    r"(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+)\.so).*"
)
HEADERS = "lib/clang/22/include"
COMPRESSION = 3  # more takes much longer and saves little


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:3]))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def take(root, folder):
    """Copies what belongs to this wheel. -> (version, folder); None where it was not built."""
    found = [path for name in FILES for path in root.glob(f"*.data/{name}")]
    if len(found) < len(FILES):
        return None
    for each in found:
        copy = shutil.copytree if each.is_dir() else shutil.copy2
        copy(each, folder / each.name)
    (about,) = root.glob("*.dist-info/METADATA")
    version = re.search(r"^Version: (.+)$", about.read_text(), re.MULTILINE)[1]
    return version, folder


def libraries_of(programs):
    """{name: path} of all libraries that they load, but those of the system."""
    found = {}
    for line in run("ldd", *programs).splitlines():
        name, _, place = line.strip().partition(" => ")
        if place and not OF_THE_SYSTEM.match(name):
            found[name] = Path(place.split(" ")[0]).resolve()
    return found


def lay_out(parts, prefix):
    """The files of the environment, below `prefix`."""
    llvm = prefix / "lib/polyxeus/llvm"
    for folder in ("bin", "lib"):
        (llvm / folder).mkdir(parents=True)
    clang = (LLVM / "bin/clang++").resolve()
    programs = [parts / name for name in PROGRAMS]
    omp = (LLVM / "lib/libomp.so.5").resolve()
    for name, path in {**libraries_of([*programs, clang, omp]), "libomp.so": omp}.items():
        target = shutil.copyfile(path, llvm / "lib" / name)
        os.chmod(target, 0o755)
        run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN", target)
    shutil.copy(clang, llvm / "bin/clang++")
    run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib", llvm / "bin/clang++")
    shutil.copytree(LLVM / HEADERS, llvm / HEADERS)
    (prefix / "bin").mkdir()
    for program in programs:
        target = shutil.copy(program, prefix / "bin" / program.name)
        run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib/polyxeus/llvm/lib", target)
    shutil.copytree(parts / "pxcpp", prefix / "share/jupyter/kernels/pxcpp")


def newest_glibc(prefix):
    """(2, 35): the newest version of glibc that a file asks for."""
    versions = {(0, 0)}
    for path in prefix.rglob("*"):
        if path.is_file() and path.open("rb").read(4) == b"\x7fELF":
            found = re.findall(rb"\0GLIBC_(\d+)\.(\d+)\b", path.read_bytes())
            versions |= {(int(major), int(minor)) for major, minor in found}
    return max(versions)


def metadata(version, tag):
    about = (
        f"Metadata-Version: 2.1\nName: polyxeus-cpp\nVersion: {version}\n"
        "Summary: C++ engines and the C++ kernel of polyxeus, with the clang that they need\n"
        "License: BSD-3-Clause; clang and LLVM: Apache-2.0 WITH LLVM-exception\n"
        f"Requires-Dist: polyxeus=={version}\n"
    )
    wheel = f"Wheel-Version: 1.0\nGenerator: cpp_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n"
    return {"METADATA": about, "WHEEL": wheel}


def make(taken, platform, out):
    """Writes the wheel. platform  the tag of polyxeus' own, which it may not fall behind."""
    version, parts = taken
    prefix = parts / "prefix"
    lay_out(parts, prefix)
    glibc = max(newest_glibc(prefix), tuple(map(int, re.findall(r"\d+", platform)[:2])))
    tag = "py3-none-manylinux_{}_{}_".format(*glibc) + platform.split("_", 3)[3]
    name = f"polyxeus_cpp-{version}"
    target = Path(out) / f"{name}-{tag}.whl"
    records = []
    with zipfile.ZipFile(target, "w") as wheel:

        def add(path, content, mode=0o644):
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, content, compresslevel=COMPRESSION)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(content)}\n")

        for path in sorted(prefix.rglob("*")):
            if not path.is_file():
                continue
            inside = path.relative_to(prefix)
            kind = "scripts" if inside.parts[0] == "bin" else "data"
            place = inside.relative_to("bin") if kind == "scripts" else inside
            add(f"{name}.data/{kind}/{place}", path.read_bytes(), path.stat().st_mode & 0o777)
        for file, text in metadata(version, tag).items():
            add(f"{name}.dist-info/{file}", text.encode())
        record = f"{name}.dist-info/RECORD"
        add(record, ("".join(records) + f"{record},,\n").encode())
    return target
