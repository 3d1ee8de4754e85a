"""The files in packaging/ have the version, options and dependencies of pyproject.toml and CMakeLists.txt."""

import pathlib
import re

import kubernetes_validate
import pytest
import yaml
from layout_test import root, tracked

PACKAGING = root / "packaging"
CMAKE = (root / "CMakeLists.txt").read_text()
PYPROJECT = (root / "pyproject.toml").read_text()
VERSION = re.search(r'^version = "(.+)"', PYPROJECT, re.M)[1]
SPACK = (PACKAGING / "spack/packages/polyxeus/package.py").read_text()
CONDA = (PACKAGING / "conda-forge/recipe.yaml").read_text()
EASYBUILD = PACKAGING / f"easybuild/polyxeus-{VERSION}-gompi-2025b.eb"

# What CMake finds -> its name in Spack, conda-forge and EasyBuild.
LIBRARIES = {
    "OpenSSL": ("openssl", "openssl", "OpenSSL"),
    "ZeroMQ": ("libzmq", "zeromq", "ZeroMQ"),
    "nlohmann_json": ("nlohmann-json", "nlohmann_json", "nlohmann_json"),
    "fmt": ("fmt", "fmt", "fmt"),
    "spdlog": ("spdlog", "spdlog", "spdlog"),
    "CLI11": ("cli11", "cli11", "CLI11"),
    "SQLite3": ("sqlite", "libsqlite", "SQLite"),
    "xeus": ("xeus", "xeus", "xeus"),
    "boost": ("boost", "libboost-headers", "Boost"),
}
# The Python packages that EasyBuild has under another name.
EASYBUILD_NAMES = {"ipython": "IPython", "cloudpickle": "Python-bundle-PyPI"}


def without_comments(text):
    return re.sub(r"(^|\s)#.*", "", text)


def listed(name):
    """The requirements of a list of pyproject.toml: [(name, bound)]"""
    inside = re.search(rf"^{name} = \[(.*?)\]", PYPROJECT, re.M | re.S)[1]
    return [re.fullmatch(r"([\w-]+)(?:>=([\d.]+))?", each).groups() for each in re.findall(r'"([^"]+)"', inside)]


def spack_has(name, bound=None):
    return re.search(rf'depends_on\("{name}@{bound}:?["+]' if bound else rf'depends_on\("{name}["@+]', SPACK)


def conda_has(name, bound=None):
    return re.search(rf"^ +- {name} >={bound}\b" if bound else rf"^ +- {name}\b", CONDA, re.M)


def easybuild_has(name):
    return f"('{name}', '" in EASYBUILD.read_text()


VERSIONS = {
    "CMakeLists.txt": r"project\(polyxeus VERSION (\S+)",
    "python/polyxeus/version.py": r'__version__ = "(.+)"',
    "CITATION.cff": r"^version: (\S+)",
    "packaging/spack/packages/polyxeus/package.py": r'^    version\("([^"]+)"',
    "packaging/conda-forge/recipe.yaml": r'^  version: "(.+)"',
    f"packaging/easybuild/{EASYBUILD.name}": r"^version = '(.+)'",
    "packaging/apptainer/polyxeus.def": r"image\.version (\S+)",
    "packaging/helm/polyxeus/Chart.yaml": r'^(?:version|appVersion): "?([\d.]+)',
    "packaging/kubernetes/jobset.yaml": r"image: polyxeus:(\S+)",
    f"packaging/modules/polyxeus/{VERSION}": r"(?:^set version |polyxeus )([\d.]+)",
    "packaging/open-ondemand/form.yml": r"polyxeus/([\d.]+)",
    "packaging/reframe/polyxeus_check.py": r'^VERSION = "(.+)"',
}


@pytest.mark.parametrize("path", VERSIONS)
def test_a_package_has_the_version_of_the_project(path):
    found = set(re.findall(VERSIONS[path], (root / path).read_text(), re.M))
    assert found == {VERSION}


def test_each_library_that_the_build_finds_is_a_dependency_of_each_package():
    code = without_comments(CMAKE)
    found = set(re.findall(r"^find_package\((\w+)", code, re.M)) - {"Threads", "PkgConfig"}
    found |= set(re.findall(r"^pkg_check_modules\((\w+)", code, re.M))
    found |= set(re.findall(r"^find_path\(\w+ (\w+)/", code, re.M))
    assert found == set(LIBRARIES)
    missing = [name for name, (spack, conda, easybuild) in LIBRARIES.items()
               if not (spack_has(spack) and conda_has(conda) and easybuild_has(easybuild))]  # fmt: skip
    assert missing == []
    xeus = re.search(r"find_package\(xeus ([\d.]+)", CMAKE)[1]
    assert f'depends_on("xeus@{xeus}")' in SPACK and conda_has("xeus", xeus)


def test_the_review_page_names_each_library_that_the_build_finds():
    page = (root / "docs/security.md").read_text()
    table = page[page.index("## Libraries inside of the wheels"):].lower().replace("-", "_")
    assert [name for name in LIBRARIES if name.lower().removesuffix("3") not in table] == []


def test_each_package_needs_what_the_python_package_needs():
    for name, bound in listed("dependencies"):
        assert spack_has(f"py-{name}", bound) and conda_has(name, bound), name
        assert easybuild_has(EASYBUILD_NAMES.get(name, name)), name
        assert re.search(rf"pip install .*\b{name}\b", (PACKAGING / "apptainer/polyxeus.def").read_text()), name
    for name, bound in [*listed("requires"), *listed("mpi")]:
        assert spack_has(f"py-{name}", bound) and conda_has(name, bound) and easybuild_has(name), name
    python = re.search(r'requires-python = ">=(.+)"', PYPROJECT)[1]
    cmake = re.search(r'cmake\.version = ">=(.+)"', PYPROJECT)[1]
    assert spack_has("python", python) and spack_has("cmake", cmake) and conda_has("cmake", cmake)


def test_the_variants_of_spack_are_options_of_the_build():
    llvm = re.search(r"LLVM_VERSION_MAJOR EQUAL (\d+)", (root / "cmake/cpp_interpreter.cmake").read_text())[1]
    assert f'"llvm@{llvm}+clang' in SPACK
    assert set(re.findall(r'^    variant\("(\w+)"', SPACK, re.M)) == {"mpi", "cpp", "jupyter"}
    compilers = re.search(r"foreach\(compiler ([\w. ]+)\)", (root / "cmake/mpi_library.cmake").read_text())[1]
    assert str(tuple(compilers.split())).replace("'", '"') in SPACK


def test_packages_set_options_that_the_build_has():
    options = set(re.findall(r"^option\((PX_\w+)", CMAKE, re.M))
    used = {name for path in tracked("packaging") for name in re.findall(r"\bPX_[A-Z]+\b", (root / path).read_text())}
    assert used and used <= options


def test_packages_call_programs_with_options_that_they_have():
    sources = "".join((root / path).read_text()
                      for path in tracked("cluster/*.cpp", "controller/*.cpp", "engine/*.cpp", "program/*.cpp"))  # fmt: skip
    known = set(re.findall(r"--[a-z][a-z-]+", sources)) | {"--version"}
    calls = [(path, call) for path in tracked("packaging")
             for call in re.findall(r"\bpx(?:cluster|controller|engine)\b.*", (root / path).read_text())]  # fmt: skip
    used = {(path, option) for path, call in calls for option in re.findall(r"--[a-z][a-z-]+", call)}
    assert len(used) > 10
    assert {(path, option) for path, option in used if option not in known} == set()


def test_an_address_is_set_if_its_checksum_is():
    """polyxeus.invalid and zeros stand for both until polyxeus is published."""
    for text in (SPACK, CONDA, EASYBUILD.read_text()):
        assert ("polyxeus.invalid/releases" in text) == ('"0" * 64' in text or "0" * 64 in text)
    addresses = re.search(r"\[project\.urls\](.*?)\n\[", PYPROJECT, re.S)[1]
    assert ("polyxeus.invalid" in addresses) == ("polyxeus.invalid" in SPACK)


def test_pods_of_the_jobset_fit_their_schema_and_the_service():
    jobset = yaml.safe_load((PACKAGING / "kubernetes/jobset.yaml").read_text())
    service = yaml.safe_load((root / "docs/examples/kubernetes/service.yaml").read_text())
    jobs = {job["name"]: job["template"]["spec"] for job in jobset["spec"]["replicatedJobs"]}
    for name, job in jobs.items():
        kubernetes_validate.validate({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": job},
                                     "1.29", strict=True)  # fmt: skip
    assert jobs["controller"]["template"]["metadata"]["labels"] == service["spec"]["selector"]
    command = " ".join(jobs["controller"]["template"]["spec"]["containers"][0]["args"])
    port = service["spec"]["ports"][0]["port"]
    assert f"--location={service['metadata']['name']}" in command and f"--ports={port}-{port + 19}" in command


def test_the_chart_has_the_names_of_the_secret_that_the_example_makes():
    values = yaml.safe_load((PACKAGING / "helm/polyxeus/values.yaml").read_text())
    script = (root / "docs/examples/kubernetes/make-secret").read_text()
    port = values["firstPort"]
    assert f"name: {values['secret']}\\n" in script
    assert f"--location={values['service']}" in script and f"--ports={port}-{port + 19}" in script


def test_the_readme_draws_each_folder():
    text = (PACKAGING / "README.md").read_text()
    folders = {pathlib.PurePath(path).parts[1] for path in tracked("packaging") if path.count("/") > 1}
    assert len(folders) > 8
    assert [folder for folder in folders if f" {folder}/" not in text] == []
