"""The list of what is inside a portable wheel, as CycloneDX, where PEP 770 wants it: .dist-info/sboms.

wheel_sources.json names the parts; versions of what Debian's packages gave are those that are installed. The same parts
give the same bytes: it holds no time and no random number.
"""

import hashlib
import json
import subprocess
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

SOURCES = Path(__file__).resolve().parent / "wheel_sources.json"
NAME = "sboms/polyxeus.cdx.json"


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


def of_package(part):
    """An installed package; with the checksum of the archive, if one was linked."""
    package = part["package"]
    version = run("dpkg-query", "-W", "-f=${Version}", package)
    more = {}
    if "archive" in part:
        files = run("dpkg-query", "-L", package).splitlines()
        (file,) = [each for each in files if each.endswith("/" + part["archive"])]
        more["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(Path(file).read_bytes()).hexdigest()}]
    return component(part["name"], version, part["license"], debian_purl(package, version), **more)


def sbom(version):
    """-> the document, for polyxeus of this version."""
    wanted = json.loads(SOURCES.read_text())
    pybind11 = metadata.version("pybind11")
    parts = [of_source(each) for each in wanted["compiled"]]
    parts += [of_package(each) for each in wanted["archives"] + wanted["headers"]]
    parts.append(component("pybind11", pybind11, "BSD-3-Clause", f"pkg:pypi/pybind11@{pybind11}"))
    own = component("polyxeus", version, "BSD-3-Clause", f"pkg:pypi/polyxeus@{version}")
    parts.sort(key=lambda each: each["bom-ref"])
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": own},
        "components": parts,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [each["bom-ref"] for each in parts]}],
    }  # fmt: skip


def write(root):
    """Into an unpacked wheel."""
    (about,) = root.glob("*.dist-info/METADATA")
    (version,) = [line.split(": ")[1] for line in about.read_text().splitlines() if line.startswith("Version: ")]
    target = about.parent / NAME
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(sbom(version), indent=1) + "\n")
