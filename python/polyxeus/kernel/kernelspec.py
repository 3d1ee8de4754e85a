"""`pxkernel install` registers the kernel with Jupyter, and `pxkernel uninstall` removes it."""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple


class Failure(Exception):
    """The command failed. The text of the exception is an error message for the user."""


class Place(NamedTuple):
    """The folders in which kernelspecs are installed."""

    is_for_user: bool
    is_for_environment: bool
    prefix: str

    def folder(self):
        if self.prefix:
            return Path(self.prefix) / "share/jupyter/kernels"
        if self.is_for_environment:
            return Path(sys.prefix) / "share/jupyter/kernels"
        return _user_data() / "kernels"


def _user_data():
    """Returns Jupyter's folder for this user's data."""
    if os.environ.get("JUPYTER_DATA_DIR"):
        return Path(os.environ["JUPYTER_DATA_DIR"])
    home = Path("~").expanduser()
    if sys.platform == "darwin":
        return home / "Library/Jupyter"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share") / "jupyter"


def _folder(place, name):
    if not re.fullmatch(r"[A-Za-z0-9._-]+", name):
        raise Failure(f"invalid name of a kernelspec '{name}': use letters, digits, '.', '_' and '-'")
    return place.folder() / name.lower()


# language -> (the default name, the folder with logos and kernel.json).
_KINDS = {"python": ("pxpython", "resources"), "cpp": ("pxcpp", "resources_cpp")}


def install(place, language, name, display_name):
    """Installs the kernelspec and returns a message for the user.

    name, display_name  if they are empty, the defaults of the language are used
    """
    usual, resources = _KINDS[language]
    folder = _folder(place, name or usual)
    resources = Path(__file__).parent / resources
    spec = json.loads((resources / "kernel.json").read_text())
    spec["argv"][0] = sys.executable
    spec["display_name"] = display_name or spec["display_name"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in resources.glob("logo-*"):
            shutil.copyfile(path, folder / path.name)
        (folder / "kernel.json").write_text(json.dumps(spec, indent=1) + "\n")
    except OSError as error:
        raise Failure(f"cannot install the kernelspec: {error}") from error
    return f"installed the kernelspec {folder.name} in {folder}"


def uninstall(place, language, name):
    """Removes the kernelspec and returns a message for the user.

    name  if it is empty, the default of the language is used
    """
    folder = _folder(place, name or _KINDS[language][0])
    if not (folder / "kernel.json").is_file():
        raise Failure(f"no kernelspec in {folder}")
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise Failure(f"cannot remove the kernelspec: {error}") from error
    return f"removed {folder}"
