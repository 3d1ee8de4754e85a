"""What pip writes for an installed package, from pyproject.toml: dist_info.py PYPROJECT FOLDER."""

import sys
import tomllib
from pathlib import Path


def metadata(project):
    lines = [f"Name: {project['name']}", f"Version: {project['version']}", f"Summary: {project['description']}"]
    lines += [f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {each}" for each in project["dependencies"]]
    return "Metadata-Version: 2.1\n" + "\n".join(lines) + "\n"


def entry_points(project):
    return "\n".join(
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items())
        for group, entries in project["entry-points"].items()
    )


def main(pyproject, folder):
    project = tomllib.loads(Path(pyproject).read_text())["project"]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(metadata(project))
    (folder / "entry_points.txt").write_text(entry_points(project))
    (folder / "INSTALLER").write_text("dpkg\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
