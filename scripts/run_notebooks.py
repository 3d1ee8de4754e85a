"""Runs the notebooks and keeps in them what they print and draw: run_notebooks.py [NAME ...], by a Python that has polyxeus
and nbclient.

Without names: those whose code has changed since they were run. Paths and the name of this host are replaced, as they say
nothing to readers.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
import torch_packages
from notebook_runs import ROOT, digest, name_of, sources, was_run

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


def run(source):
    book = nbformat.read(source, as_version=4)
    kept = {name: book.metadata[name] for name in ("kernelspec", "language_info") if name in book.metadata}
    resources = {"metadata": {"path": str(source.parent)}}
    nbclient.NotebookClient(book, timeout=TIME_LIMIT, record_timing=False, resources=resources).execute()
    book.metadata = nbformat.from_dict({**kept, "ran": digest(book)})
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = nbformat.from_dict(readable(joined(cell.outputs), names_of_this_machine()))
    nbformat.write(book, source)


WIDGET = "application/vnd.jupyter.widget-view+json"


def joined(outputs):
    """The outputs, texts of one stream in a row as one; without what shows nothing in a file: widgets, and displays that were
    emptied."""
    together = []
    for output in outputs:
        if output["output_type"] == "display_data" and (not output["data"] or WIDGET in output["data"]):
            continue
        last = together[-1] if together else {}
        if output["output_type"] == "stream" and last.get("output_type") == "stream" and last["name"] == output["name"]:
            last["text"] += output["text"]
        else:
            together.append(dict(output))
    return together


def names_of_this_machine():
    """[(pattern, what stands for it)]"""
    names = {str(Path(sys.prefix)): "~/px", str(ROOT): "~/polyxeus", str(Path.home()): "~"}
    patterns = [(rf"{re.escape(name)}(?=/|\b)", short) for name, short in names.items() if name != "/"]
    return [*patterns, (r"/tmp/px-notebooks-\w+", "~"), (rf"\b{re.escape(socket.gethostname())}\b", "myhost")]


def readable(value, patterns):
    """The outputs, without what names this machine."""
    if isinstance(value, str):
        for pattern, short in patterns:
            value = re.sub(pattern, short, value)
        return value
    if isinstance(value, list):
        return [readable(each, patterns) for each in value]
    if isinstance(value, dict):
        return {name: each if name.startswith("image/") else readable(each, patterns) for name, each in value.items()}
    return value


def set_environment(folder, needs_torch):
    """Nothing of the user's takes part. -> {folder of notebooks: the PyTorch of these, a folder for PYTHONPATH}"""
    os.environ["IPYTHONDIR"] = str(folder / "ipython")
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    os.environ.pop("MPLBACKEND", None)
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"):
        os.environ.setdefault(name, "1")
    if needs_torch:
        torch_packages.main()
    folders = {"torch": torch_packages.FOLDER}
    if (DEBIAN_PACKAGES / "torch").exists():
        folders["notebooks"] = link_debian_torch(folder / "torch")
    return folders


def wanted(names):
    """The notebooks with these names; without names those whose code has changed."""
    if names:
        return [source for source in sources() if name_of(source) in names]
    return [source for source in sources() if not was_run(json.loads(source.read_text()))]


def main(names):
    failed = []
    books = wanted(names)
    with tempfile.TemporaryDirectory(prefix="px-notebooks-") as folder:
        torches = set_environment(Path(folder), any(source.parent.name == "torch" for source in books))
        path = os.environ.get("PYTHONPATH")
        for source in books:
            name = name_of(source)
            print(f"== {name}", flush=True)
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [path, str(torches.get(source.parent.name, ""))]))
            try:
                run(source)
            except Exception as failure:  # of whatever kind: the others are still worth running
                print(f"notebooks/{name}.ipynb failed: {failure}", file=sys.stderr)
                failed.append(name)
                subprocess.run(["pxcluster", "stop", "--all"], stderr=subprocess.DEVNULL)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
