"""Runs the notebooks for the documentation site: run_notebooks.py [NAME ...], by a Python that has polyxeus and nbclient.

What each printed and drew lies in build/docs/notebooks, with the digest of the notebook that was run. One that was run
since it has changed is not run again.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
import torch_packages
from notebook_runs import RUN, digest, name_of, sources

DEBIAN_PACKAGES = Path("/usr/lib/python3/dist-packages")
TIME_LIMIT = 300  # seconds for one cell


def link_debian_torch(folder):
    """Debian's PyTorch, and nothing else of Debian's Python packages. -> a folder for PYTHONPATH"""
    if not (DEBIAN_PACKAGES / "torch").exists():
        raise FileNotFoundError("PyTorch is not there: apt install python3-torch")
    folder.mkdir()
    for name in ("torch", "torchgen", "functorch"):
        if (DEBIAN_PACKAGES / name).exists():
            (folder / name).symlink_to(DEBIAN_PACKAGES / name)
    return folder


def is_new(source, target):
    return target.exists() and json.loads(target.read_text())["metadata"].get("source") == digest(source)


def run(source, target):
    book = nbformat.read(source, as_version=4)
    resources = {"metadata": {"path": str(source.parent)}}
    nbclient.NotebookClient(book, timeout=TIME_LIMIT, resources=resources).execute()
    book.metadata["source"] = digest(source)
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(book, target)


def set_environment(folder):
    """Nothing of the user's takes part. -> {folder of notebooks: the PyTorch of these, a folder for PYTHONPATH}"""
    os.environ["IPYTHONDIR"] = str(folder / "ipython")
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    os.environ.pop("MPLBACKEND", None)
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"):
        os.environ.setdefault(name, "1")
    torch_packages.main()
    folders = {"torch": torch_packages.FOLDER}
    if (DEBIAN_PACKAGES / "torch").exists():
        folders["notebooks"] = link_debian_torch(folder / "torch")
    return folders


def main(names):
    failed = []
    with tempfile.TemporaryDirectory(prefix="px-notebooks-") as folder:
        torches = set_environment(Path(folder))
        path = os.environ.get("PYTHONPATH")
        for source in sources():
            name = name_of(source)
            target = RUN / f"{name}.ipynb"
            if (names and name not in names) or is_new(source, target):
                continue
            print(f"== {name}", flush=True)
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [path, str(torches.get(source.parent.name, ""))]))
            try:
                run(source, target)
            except Exception as failure:  # of whatever kind: the others are still worth running
                print(f"notebooks/{name}.ipynb failed: {failure}", file=sys.stderr)
                failed.append(name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
