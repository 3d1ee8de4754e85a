"""The list of what is inside a portable wheel, as CycloneDX, where PEP 770 wants it: .dist-info/sboms.

wheel_sources.json names the parts; versions of what Debian's packages gave are those that are installed or, for another
architecture, those in the sysroot (wheel_sysroot.py), and package-lock.json has those of the JavaScript. The same parts
give the same bytes: it holds no time and no random number.
check() compares the list with the files of the wheel.
"""

import base64
import hashlib
import json
import subprocess
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

import wheel_sysroot

SOURCES = Path(__file__).resolve().parent / "wheel_sources.json"
PAGE = SOURCES.parent.parent / "dashboard/package-lock.json"
NAME = "sboms/polyxeus.cdx.json"
LIBRARIES = "polyxeus.libs"
# Bytes that are in each program, library and page with code of a part, and in no other: texts and names of types. Only
# xtl leaves none.
MARKS = {
    "libzmq": "N3zmq13socket_base_tE", "fmt": "number is too big", "spdlog": "[*** LOG ERROR #", "OpenSSL": "OpenSSL Default Provider",
    "libsodium": "sysrandom", "SQLite": "SQLite format 3", "xeus": "N4xeus", "libstdc++": "terminate called",
    "nlohmann-json": "[json.exception.", "CLI11": "N3CLI", "Boost": "N5boost", "cppzmq": "N3zmq7error_tE",
    "pybind11": "pybind11", "preact": "dangerouslySetInnerHTML", "uplot": "u-cursor-pt",
}  # fmt: skip


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def component(name, version, license, purl, **more):
    key = "id" if " " not in license else "expression"
    licenses = [{"expression": license}] if key == "expression" else [{"license": {"id": license}}]
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "licenses": licenses, "purl": purl, **more}


def debian_purl(package, version, kind=""):
    return f"pkg:deb/debian/{package}@{quote(version)}?arch={kind or run('dpkg', '--print-architecture')}"


def of_source(part):
    purl = debian_purl(part["source"], part["version"], "source")
    return component(part["name"], part["version"], part["license"], purl,
                     hashes=[{"alg": "SHA-256", "content": part["sha256"]}])  # fmt: skip


def installed_archive(package, archive):
    files = run("dpkg-query", "-L", package).splitlines()
    (file,) = [each for each in files if each.endswith("/" + archive)]
    return Path(file)


def of_package(part, sysroot=None):
    """An installed package, or one of the sysroot; with the checksum of the archive, if one was linked."""
    package, more = part["package"], {}
    if sysroot:
        version, architecture = wheel_sysroot.package_version(sysroot, package), wheel_sysroot.ARCHITECTURE
    else:
        version, architecture = run("dpkg-query", "-W", "-f=${Version}", package), ""
    if archive := part.get("archive"):
        file = wheel_sysroot.package_archive(sysroot, archive) if sysroot else installed_archive(package, archive)
        more["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}]
    return component(part["name"], version, part["license"], debian_purl(package, version, architecture), **more)


def of_page():
    """The packages of npm in the page of the dashboard: those that are not only tools."""
    for path, part in json.loads(PAGE.read_text())["packages"].items():
        if path and not part.get("dev"):
            name = path.removeprefix("node_modules/")
            algorithm, _, digest = part["integrity"].partition("-")
            hashes = [{"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}]
            yield component(name, part["version"], part["license"], f"pkg:npm/{name}@{part['version']}", hashes=hashes)


def of_file(path):
    """A shared library of the wheel."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    name = f"{LIBRARIES}/{path.name}"
    return {"type": "file", "bom-ref": name, "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}


def sbom(version, libraries=(), sysroot=None):
    """-> the document, for polyxeus of this version, with these shared libraries inside."""
    wanted = json.loads(SOURCES.read_text())
    pybind11 = metadata.version("pybind11")
    parts = [of_source(each) for each in wanted["compiled"]]
    parts += [of_package(each, sysroot) for each in wanted["archives"] + wanted["headers"]]
    parts.append(component("pybind11", pybind11, "BSD-3-Clause", f"pkg:pypi/pybind11@{pybind11}"))
    parts += [*of_page(), *map(of_file, libraries)]
    own = component("polyxeus", version, "BSD-3-Clause", f"pkg:pypi/polyxeus@{version}")
    parts.sort(key=lambda each: each["bom-ref"])
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": own},
        "components": parts,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [each["bom-ref"] for each in parts]}],
    }  # fmt: skip


def write(root, sysroot=None):
    """Into an unpacked wheel. sysroot  Debian's packages, if the wheel was made for another architecture"""
    (about,) = root.glob("*.dist-info/METADATA")
    (version,) = [line.split(": ")[1] for line in about.read_text().splitlines() if line.startswith("Version: ")]
    target = about.parent / NAME
    target.parent.mkdir(exist_ok=True)
    libraries = sorted(root.glob(f"{LIBRARIES}/*"))
    target.write_text(json.dumps(sbom(version, libraries, sysroot), indent=1) + "\n")


def is_code(path):
    if path.suffix == ".js":
        return True
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def check(root):
    """What is wrong with the list of an unpacked wheel, each a sentence: the list and the files have to name the same parts."""
    (place,) = root.glob(f"*.dist-info/{NAME}")
    parts = json.loads(place.read_text())["components"]
    listed = {each["name"] for each in parts if each["type"] == "file" or each["name"] in MARKS}
    code = [path.read_bytes() for path in root.rglob("*") if path.is_file() and is_code(path)]
    found = {name for name, mark in MARKS.items() if any(mark.encode() in each for each in code)}
    found |= {f"{LIBRARIES}/{path.name}" for path in root.glob(f"{LIBRARIES}/*")}
    missing = [f"the list of parts names {each}, but no file contains it" for each in sorted(listed - found)]
    return missing + [f"{each} is inside, but the list of parts does not name it" for each in sorted(found - listed)]
