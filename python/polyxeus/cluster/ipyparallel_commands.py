"""`python -m polyxeus.cluster.ipyparallel_commands` installs the commands ipcluster, ipcontroller and ipengine for
programs that call these commands."""

import argparse
import importlib.metadata
import os
import sys
import sysconfig

from polyxeus.client import pxcluster

__all__ = ["install", "remove"]

_PROGRAMS = {"ipcluster": "pxcluster", "ipcontroller": "pxcontroller", "ipengine": "pxengine"}
_MARK = "# by polyxeus.cluster.ipyparallel_commands\n"


def _files(folder):
    return {os.path.join(folder, name): program for name, program in _PROGRAMS.items()}


def _is_ours(path):
    try:
        with open(path, errors="replace") as file:
            return _MARK in file.read(1000)
    except OSError:
        return False


def install(folder=None):
    """Writes the three commands, which run pxcluster, pxcontroller and pxengine, and returns their paths.

    folder  the folder for the commands; None: the folder of this Python's programs
    errors  FileExistsError: ipyparallel is installed, or another command has one of these names. No file is written
    """
    folder = sysconfig.get_path("scripts") if folder is None else folder
    try:
        version = importlib.metadata.version("ipyparallel")
    except importlib.metadata.PackageNotFoundError:
        version = None
    if version is not None:
        raise FileExistsError(
            f"ipyparallel {version} is installed for {sys.executable} and has these commands: uninstall it first"
        )
    files = _files(folder)
    for path in files:
        if os.path.lexists(path) and not _is_ours(path):
            raise FileExistsError(f"{path} exists and is not a command of polyxeus: remove it first")
    for path, program in files.items():
        with open(path, "w") as file:
            file.write(f'#!/bin/sh\n{_MARK}exec "{pxcluster.find(program)}" "$@"\n')
        os.chmod(path, 0o755)
    return list(files)


def remove(folder=None):
    """Removes only the commands that install() has written, and returns their paths."""
    ours = [path for path in _files(sysconfig.get_path("scripts") if folder is None else folder) if _is_ours(path)]
    for path in ours:
        os.remove(path)
    return ours


def main():
    parser = argparse.ArgumentParser(
        prog="python -m polyxeus.cluster.ipyparallel_commands",
        description="Installs the commands ipcluster, ipcontroller and ipengine, which run pxcluster, pxcontroller and "
        "pxengine. Fails if ipyparallel is installed.",
    )
    parser.add_argument("--remove", action="store_true", help="remove the commands that this program has installed")
    try:
        for path in remove() if parser.parse_args().remove else install():
            print(path)
    except OSError as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
