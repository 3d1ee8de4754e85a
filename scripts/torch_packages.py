"""Installs PyTorch of PyPI and what the tests use on it in build/torch, for the Python that runs this.

scripts/requirements_torch.txt names the packages. PyPI's torch for Linux is linked against 2.4 GB of CUDA libraries that
nothing calls where there is no GPU. In their place it gets libraries of the same names whose functions end the process
with a sentence. With the CUDA libraries torch alone takes 3 GB of downloads, 5.4 GB on the disk and 90 s to install on
two cores; without them all packages together take 1.8 GB on the disk and one to three minutes beside other work.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/torch"
REQUIREMENTS = ROOT / "scripts/requirements_torch.txt"
STAND_IN = """
#include <stdio.h>
#include <stdlib.h>
#define STAND_IN(name) void name(void) {\\
  fputs(#name " of " LIBRARY " was called, which scripts/torch_packages.py has left out\\n", stderr); abort(); }
"""
# Compiled at their first import; these alone, as compiling all takes a minute of processor time.
WARM_UP = """
import accelerate, jax.numpy, lightning_fabric, torch.distributed.checkpoint, torch.distributed.fsdp
import torch.distributed.tensor.parallel, torchmetrics, transformers
transformers.Trainer, transformers.GPT2LMHeadModel
parameter = torch.nn.Parameter(torch.ones(1))
torch.optim.Adam([parameter])
"""


def install():
    """Installs the packages, and none that they ask for, in an empty folder."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile", "--no-deps",
         "--target", FOLDER, "-r", REQUIREMENTS], stderr=subprocess.PIPE, text=True)  # fmt: skip
    if done.returncode:
        sys.exit(f"{done.stderr}pip could not install {REQUIREMENTS.relative_to(ROOT)}: the tests with PyTorch need PyPI")


def output(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def missing_libraries(libraries):
    """-> {library that these need and that is not there: its functions that they call}"""
    known = {file.name for file in [*libraries, *FOLDER.glob("nvidia/*/lib/*")]}
    known |= set(output("/sbin/ldconfig", "-p").split())
    needed, functions = set(), set()
    for library in libraries:
        needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", library)))
        functions |= set(output("nm", "-D", "--undefined-only", "--format=just-symbols", library).split())
    missing = needed - known - {"libcuda.so.1"}  # the driver, which torch opens where there is one
    return {library: sorted(each for each in functions if is_of(library, each)) for library in missing}


def is_of(library, function):
    """By the version of the function, which is the name of its library; some have another one or none: by the name."""
    name, _, version = function.partition("@")
    family = library[len("lib"):].partition(".")[0].partition("_")[0]  # e.g. nvshmem of libnvshmem_host.so.3
    return version == library or (not version.startswith("lib") and name.startswith(family))


def make_stand_in(library, functions, folder):
    """The loader asks for each function by name and version, already when it loads torch."""
    names_of = {}  # of each version
    for each in functions:
        name, _, version = each.partition("@")
        names_of.setdefault(version.lstrip("@") or library, []).append(name)
    script = folder / f"{library}.versions"
    script.write_text("".join(f"{version} {{ {'; '.join(names)}; }};\n" for version, names in sorted(names_of.items())))
    code = STAND_IN + "".join(f"STAND_IN({name})\n" for names in names_of.values() for name in names)
    subprocess.run(["g++", "-x", "c", "-", "-shared", "-fPIC", "-s", f'-DLIBRARY="{library}"', "-o", folder / library,
                    f"-Wl,-soname,{library},--version-script,{script}"], input=code, text=True, check=True)  # fmt: skip
    script.unlink()


def main():
    stamp = FOLDER / "installed"
    wanted = f"{sys.version}\n{Path(__file__).read_text()}\n{REQUIREMENTS.read_text()}"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    install()
    folder = FOLDER / "torch/lib"
    for library, functions in missing_libraries(sorted(folder.glob("*.so*"))).items():
        make_stand_in(library, functions, folder)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", WARM_UP], check=True, cwd=FOLDER, env=environment)
    stamp.write_text(wanted)


if __name__ == "__main__":
    main()
