"""Makes wheels that need nothing of the system of one that does: bundle_libraries.py [--portable LIBRARIES] WHEEL FOLDER.

--portable  the wheel was linked with what scripts/wheel_libraries.py made in this folder, for an older glibc
            (docs/wheels.md): check that it is so, and add the list of what is inside

auditwheel puts libraries into a wheel for what lies in the package. Programs go to another folder of
the environment when the wheel is installed, so they are shown to auditwheel inside of the package,
and moved back with the way from there to the libraries. The C++ engine and kernel, if they were
built, get a wheel of their own, polyxeus-cpp, as the clang that they need is large: see cpp_wheel.py.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cpp_wheel
import hidden_versions
import wheel_compression
import wheel_sbom

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = "polyxeus.libs"
# An MPI is the user's own: the library for one that is not there is not loaded.
OF_THE_USER = ("libmpi.so.40", "libmpi.so.12", "libmpich.so.12")
LIBRARY_FOLDERS = ("site-packages", "dist-packages")
# Functions without a version that a module takes from the process which loads it.
OF_THE_PROCESS = re.compile(r"_?Py|[PO]?MPI_|ompi_")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:3]))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def unpacked(wheel, folder):
    run(sys.executable, "-m", "wheel", "unpack", "-d", folder, wheel)
    (root,) = folder.iterdir()
    return root


def packed(root, folder):
    run(sys.executable, "-m", "wheel", "pack", "-d", folder, root)
    (wheel,) = folder.glob("*.whl")
    return wheel


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def remove_cpp(root):
    for name in cpp_wheel.FILES:
        for found in root.glob(f"*.data/{name}"):
            shutil.rmtree(found) if found.is_dir() else found.unlink()


def unknown_functions(path):
    """What the file takes from elsewhere, but not from a version of glibc or libgcc, from Python or MPI."""
    lines = run("nm", "-D", "--undefined-only", path).splitlines()
    names = [line.split()[-1] for line in lines if line.split()[0] == "U"]
    return [name for name in names if "@" not in name and not OF_THE_PROCESS.match(name)]


def names_checkout(path):
    """Whether the file holds the folder of this checkout: a build in another folder would give other bytes."""
    return f"{ROOT}/".encode() in path.read_bytes()


def check_portable(root, libraries):
    """No other library was put into the wheel, no file needs a function that an older glibc lacks or names the checkout."""
    wanted = {each.stem for each in libraries.glob("lib/libpolyxeus_*.so")}
    found = {each.name.partition("-")[0] for each in root.glob(f"{LIBRARIES}/*")}  # libpolyxeus_zmq-51c5e5f2.so
    if found - wanted:
        sys.exit(f"these libraries of the system were put into the wheel: {', '.join(found - wanted)}")
    for path in root.glob(f"{LIBRARIES}/*"):
        if not hidden_versions.are_hidden(path):
            sys.exit(f"references without a version find functions of {path.name}: see scripts/hidden_versions.py")
    for path in (each for each in root.rglob("*") if each.is_file() and is_elf(each)):
        if unknown := unknown_functions(path):
            sys.exit(f"{path.name} needs what an older glibc may lack: {', '.join(unknown)}")
        if names_checkout(path):
            sys.exit(f"{path.name} names the folder {ROOT}, so that a build elsewhere gives another wheel: see -ffile-prefix-map")


def way_to_libraries(version):
    """The run path of programs in bin/: from there to the libraries of each kind of environment."""
    return ":".join(
        f"$ORIGIN/../lib/python{version}/{folder}/{LIBRARIES}" for folder in LIBRARY_FOLDERS
    )


def main(wheel, out, portable=None):
    if portable:  # where auditwheel finds them
        os.environ["LD_LIBRARY_PATH"] = str(portable / "lib")
    version = "{}.{}".format(*sys.version_info)
    with tempfile.TemporaryDirectory() as temporary:
        steps = [Path(temporary) / str(number) for number in range(6)]
        for each in steps:
            each.mkdir()
        root = unpacked(wheel, steps[0])
        cpp_parts = cpp_wheel.take(root, steps[5])
        remove_cpp(root)
        (scripts,) = root.glob("*.data/scripts")
        inside = root / "polyxeus" / "programs"
        inside.mkdir()
        names = [each.name for each in scripts.iterdir() if is_elf(each)]
        for name in names:
            shutil.move(scripts / name, inside / name)
        excluded = [f"--exclude={name}" for name in OF_THE_USER]
        run("auditwheel", "repair", *excluded, "-w", steps[2], packed(root, steps[1]))
        (repaired,) = steps[2].glob("*.whl")
        root = unpacked(repaired, steps[3])
        inside = root / "polyxeus" / "programs"
        (data,) = root.glob("*.data")
        (data / "scripts").mkdir(exist_ok=True)
        for name in names:
            program = shutil.move(inside / name, data / "scripts" / name)
            run("patchelf", "--force-rpath", "--set-rpath", way_to_libraries(version), program)
        inside.rmdir()
        if portable:
            for library in root.glob(f"{LIBRARIES}/*"):
                hidden_versions.hide(library)
            check_portable(root, portable)
            sysroot = portable / "sysroot"
            wheel_sbom.write(root, sysroot if sysroot.exists() else None)
            if wrong := wheel_sbom.check(root):
                sys.exit("\n".join(wrong))
        Path(out).mkdir(exist_ok=True)
        made = packed(root, steps[4])
        print(wheel_compression.compress(made, Path(out) / made.name))
        if cpp_parts:
            platform = made.stem.split("-")[-1]
            print(cpp_wheel.make(cpp_parts, platform, out))


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["--portable"]:
        main(*words[2:], portable=Path(words[1]))
    else:
        main(*words)
