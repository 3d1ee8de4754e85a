"""The packages for aarch64 that wheels are compiled with: wheel_sysroot.py VERSION [FOLDER]

VERSION  of Python, such as 3.11
FOLDER   where they are kept; default: ~/.cache/polyxeus-wheels

Prints the folder of the headers of this Python. scripts/wheel_libraries.py makes the other folder, which takes the
place of / for the compiler. The host's own packages are not used: apt downloads those of arm64 from the host's mirror.
"""

import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

from debian_packages import KEYS, Packages, host_sources, mirror

ARCHITECTURE = "arm64"
MULTIARCH = "aarch64-linux-gnu"
# Of packages in wheel_sources.json: what they include, and the shared libraries that their CMake files name.
NEEDED = (
    "libzmq3-dev", "libzmq5", "uuid-dev", "libuuid1", "libfmt-dev", "libfmt9", "libspdlog-dev", "libspdlog1.10",
    "libssl3", "libsqlite3-0", "libxeus6", "libopenmpi-dev", "libmpich-dev",
    "libc6-dev", "linux-libc-dev", "libcrypt-dev", "libc6", "libgcc-s1",
)  # fmt: skip
# The releases of Debian or, for 3.14, Ubuntu that have this version of Python; None: that of the host.
PYTHONS = {"3.9": "bullseye", "3.11": None, "3.13": "trixie", "3.14": "resolute"}
OF_UBUNTU = ("resolute",)
UBUNTU, UBUNTU_KEYS = "http://archive.ubuntu.com/ubuntu", "/usr/share/keyrings/ubuntu-archive-keyring.gpg"
VERSIONS = "packages.json"  # in the folder: {package: version}


def packages_of(place, release=None):
    """The packages of a release of Debian or Ubuntu, default: those of the host. `place` keeps their lists."""
    is_of_ubuntu = release in OF_UBUNTU
    if is_of_ubuntu and not Path(UBUNTU_KEYS).exists():
        sys.exit(f"there is no {UBUNTU_KEYS}: it is a file of Ubuntu's package ubuntu-keyring")
    keys, url = (UBUNTU_KEYS, UBUNTU) if is_of_ubuntu else (KEYS, mirror())
    text = f"deb [signed-by={keys}] {url} {release} main\n"
    sources = [("debian.list", text)] if release else host_sources()
    return Packages(place / f"apt-{ARCHITECTURE}" / (release or "host"), ARCHITECTURE, sources)


def wanted_packages(sources):
    return [part["package"] for kind in ("archives", "headers") for part in sources[kind]] + list(NEEDED)


class Sysroot:
    """The newest versions on the mirror of all packages that become part of a wheel."""

    def __init__(self, place, sources):
        self._names = wanted_packages(sources)
        self._packages = packages_of(place)

    def identity(self):
        """A text that changes with each package."""
        return json.dumps(self._packages.files(self._names))

    def make(self, folder):
        versions = self._packages.unpack(self._names, folder)
        # Libraries that Debian's libzmq needs: wheels have another one (wheel_libraries.py).
        description = folder / f"usr/lib/{MULTIARCH}/pkgconfig/libzmq.pc"
        lines = description.read_text().splitlines(True)
        description.write_text("".join(each for each in lines if not each.startswith("Requires.private")))
        (folder / VERSIONS).write_text(json.dumps(versions, indent=1, sort_keys=True) + "\n")


def package_version(sysroot, package):
    return json.loads((Path(sysroot) / VERSIONS).read_text())[package]


def package_archive(sysroot, archive):
    """The static library of this name."""
    folders = (MULTIARCH, f"gcc/{MULTIARCH}/*")
    (found,) = [each for folder in folders for each in Path(sysroot).glob(f"usr/lib/{folder}/{archive}")]
    return found


def python_headers(place, version):
    """The folder of Python's headers for aarch64."""
    if version not in PYTHONS:
        sys.exit(f"there are no headers of Python {version} for aarch64: Debian and Ubuntu have those of {', '.join(PYTHONS)}")
    packages = packages_of(place, PYTHONS[version])
    names = [f"libpython{version}-dev"]
    digest = hashlib.sha256(json.dumps(packages.files(names)).encode()).hexdigest()[:12]
    result = place / f"python{version}-{MULTIARCH}-{digest}"
    if not result.exists():
        with tempfile.TemporaryDirectory(dir=place) as temporary:
            packages.unpack(names, temporary)
            include = Path(temporary) / "usr/include"
            # The file of this name beside the other headers only includes that of the architecture.
            shutil.copy(include / MULTIARCH / f"python{version}/pyconfig.h", include / f"python{version}/pyconfig.h")
            (include / f"python{version}").rename(result)
    return result


if __name__ == "__main__":
    print(python_headers(Path(sys.argv[2]) if len(sys.argv) > 2 else Path.home() / ".cache/polyxeus-wheels", sys.argv[1]))
