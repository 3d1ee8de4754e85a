"""Puts the libraries that a wheel of polyxeus needs into it: bundle_libraries.py WHEEL FOLDER.

auditwheel does it for what lies in the package. Programs go to another folder of the environment
when the wheel is installed, so they are shown to auditwheel inside of the package, and moved back
with the way from there to the libraries. The C++ engine and kernel are left out: they need clang
and an MPI to compile against.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARIES = "polyxeus.libs"
# An MPI is the user's own: the library for one that is not there is not loaded.
OF_THE_USER = ("libmpi.so.40", "libmpi.so.12", "libmpich.so.12")
LEFT_OUT = ("scripts/pxengine-cpp", "scripts/pxkernel-cpp", "data/share/jupyter/kernels/pxcpp")
LIBRARY_FOLDERS = ("site-packages", "dist-packages")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:3]))} failed:\n{done.stdout}{done.stderr}")


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
    for name in LEFT_OUT:
        for found in root.glob(f"*.data/{name}"):
            shutil.rmtree(found) if found.is_dir() else found.unlink()


def way_to_libraries(version):
    """The run path of programs in bin/: from there to the libraries of each kind of environment."""
    return ":".join(
        f"$ORIGIN/../lib/python{version}/{folder}/{LIBRARIES}" for folder in LIBRARY_FOLDERS
    )


def main(wheel, out):
    version = "{}.{}".format(*sys.version_info)
    with tempfile.TemporaryDirectory() as temporary:
        steps = [Path(temporary) / str(number) for number in range(5)]
        for each in steps:
            each.mkdir()
        root = unpacked(wheel, steps[0])
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
        Path(out).mkdir(exist_ok=True)
        print(shutil.copy(packed(root, steps[4]), out))


if __name__ == "__main__":
    main(*sys.argv[1:])
