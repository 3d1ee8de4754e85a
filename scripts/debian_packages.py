"""apt in a folder of our own: it downloads packages, also those of another architecture.

Nothing of the host's apt and dpkg changes.
"""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

SETTINGS = Path("/etc/apt")
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:3]))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def host_sources():
    """-> [(name, text)] of apt's own lists of sources."""
    files = [SETTINGS / "sources.list", *sorted(SETTINGS.glob("sources.list.d/*"))]
    return [(file.name, file.read_text()) for file in files if file.suffix in (".list", ".sources") and file.exists()]


def of_source_packages(text):
    """The list of sources, for source packages."""
    lines = text.replace("Types: deb\n", "Types: deb-src\n").splitlines(True)
    return "".join("deb-src " + line[4:] if line.startswith("deb ") else line for line in lines)


def mirror():
    """Where the host's apt downloads Debian's packages."""
    text = "\n".join(text for _, text in host_sources())
    found = re.search(r"(?:^URIs: *|^deb (?:\[[^]]*\] *)?)(\S+/debian)/?(?:\s|$)", text, re.M)
    return found[1] if found else "http://deb.debian.org/debian"


def apt_options(folder, sources, architecture=None):
    """The options with which apt-get reads these sources, [(name, text)], and writes to `folder` alone."""
    lists = folder / "sources"
    for each in (lists, folder / "state/lists/partial", folder / "cache/archives/partial"):
        each.mkdir(parents=True, exist_ok=True)
    for name, text in sources:
        (lists / name).write_text(text)
    settings = {"Dir::State": folder / "state", "Dir::Cache": folder / "cache", "Dir::Etc::sourcelist": "/dev/null",
                "Dir::Etc::sourceparts": lists, "APT::Sandbox::User": ""}  # fmt: skip
    if architecture:
        (folder / "status").write_text("")  # no package is installed
        settings |= {"Dir::State::status": folder / "status", "APT::Architecture": architecture,
                     "APT::Architectures": architecture, "Acquire::Languages": "none",
                     "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false"}  # fmt: skip
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


class Packages:
    """Packages of an architecture, in the newest versions that a list of sources has."""

    def __init__(self, folder, architecture, sources):
        self._folder = folder
        self._options = apt_options(folder, sources, architecture)
        run("apt-get", *self._options, "update", "-qq", "--error-on=any")

    def files(self, names):
        """-> {file of the package: its SHA-256, or "SHA512:..."}, before it is downloaded."""
        lines = run("apt-get", *self._options, "download", "-qq", "--print-uris", *names).splitlines()
        words = [line.split(" ") for line in lines if line.startswith("'")]
        return {file: digest.removeprefix("SHA256:") for _, file, _, digest in words}

    def unpack(self, names, root):
        """Into the folder `root`. Returns {package: version}."""
        archives = self._folder / "archives"
        archives.mkdir(exist_ok=True)
        wanted = self.files(names)
        run("apt-get", *self._options, "download", "-qq", *names, cwd=archives)
        versions = {}
        for file, digest in wanted.items():
            algorithm, _, expected = digest.rpartition(":")
            if hashlib.new(algorithm or "sha256", (archives / file).read_bytes()).hexdigest() != expected:
                sys.exit(f"{file} has another checksum than the list of packages says")
            run("dpkg-deb", "-x", archives / file, root)
            name, version = run("dpkg-deb", "-W", "--showformat=${Package} ${Version}", archives / file).split()
            versions[name] = version
            (archives / file).unlink()
        return versions
