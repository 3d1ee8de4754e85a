"""What mkdocs.yml adds to docs/: the pages that lie elsewhere, and the references of the Python package and the C++ client.

Links to what is no page (a notebook, a source file) become its path in the source.
"""

import ast
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
IMAGE = re.compile(r"(!\[[^\]]*\]\()([^):\s]+)\)")
API = """# Python, name by name

The public names of the package `polyxeus`, in the order of the alphabet, then the modules for MPI and torch, and the classes of what methods return.
[The Python package](python.md) tells how they fit.

"""
# Shown under their whole names, as the package itself does not have them.
FURTHER = [
    "mpi.stop_here", "torch.init", "torch.finalize", "torch.World", "torch.average_gradients", "torch.broadcast_parameters",
    "client.debug_server.DebugServer",
    "client.events.ClusterEvents", "client.jobs.Jobs", "client.kept_variables.KeptVariables", "client.places.EnginePlaces",
    "client.stacks.EngineStacks", "client.status.ClusterMemory", "client.status.ClusterStatus", "client.topology.ClusterTopology",
    "client.tracing.Trace", "client.walltime.job_ends.JobEnds", "client.walltime.keeper.JobKeeper", "results.lazy_map.LazyMapIterator",
]  # fmt: skip


def public_names():
    """[(name, the module that defines it)], from the table in polyxeus/__init__.py"""
    tree = ast.parse((ROOT / "python/polyxeus/__init__.py").read_text())
    (homes,) = (ast.literal_eval(node.value) for node in tree.body
                if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HOMES")  # fmt: skip
    return sorted((name, f"polyxeus.{home}") for home, names in homes.items() for name in names)


CPP_REFERENCE = """# The C++ client, name by name

The reference of `<polyxeus/client.hpp>`, made from the comments of its headers:

* <a href="cpp-api/annotated.html">classes</a>
* <a href="cpp-api/namespacepx_1_1client.html">functions and types of the client</a>
* <a href="cpp-api/namespacepx.html">values, arrays and errors</a>

[The C++ client](cpp.md) tells how they fit.
"""


def decisions():
    """A page with a link to each decision."""
    lines = ["# Decisions", ""]
    for file in sorted((ROOT / "docs/decisions").glob("*.md")):
        title = file.read_text().splitlines()[0].removeprefix("# ")
        lines.append(f"* [{title}](decisions/{file.name})")
    return "\n".join(lines) + "\n"


def fill_navigation(config, title, pages):
    """The entry of the navigation with this title leads to these pages."""
    for part in config.nav:
        for entries in part.values():
            for entry in entries:
                if title in entry:
                    entry[title] = pages


def on_config(config):
    """The decisions are pages below the list of them."""
    below = [{"All": "decisions.md"}]
    below += [f"decisions/{file.name}" for file in sorted((ROOT / "docs/decisions").glob("*.md"))]
    fill_navigation(config, "Decisions", below)
    return config


def on_files(files, config):
    for source, page in PAGES.items():
        text = moved((ROOT / source).read_text(), "", "docs")
        files.append(File.generated(config, page, content=text))
    api = API + "".join(f"::: {home}.{name}\n\n" for name, home in public_names())
    api += "".join(f"::: polyxeus.{name}\n    options: {{show_root_full_path: true}}\n\n" for name in FURTHER)
    files.append(File.generated(config, "api.md", content=api))
    files.append(File.generated(config, "cpp-reference.md", content=CPP_REFERENCE))
    files.append(File.generated(config, "decisions.md", content=decisions()))
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.generated_by:
        return markdown
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))
    return moved(markdown, folder, folder)


def moved(text, folder, new_folder):
    """The text with the links and images of a page in `folder` as those of one in `new_folder`; folders of the tree."""

    def link(found):
        label, target = found.groups()
        if re.match(r"[a-z][a-z0-9+.-]*:|#", target):
            return found.group()
        name, sharp, heading = target.partition("#")
        path = posixpath.normpath(posixpath.join(folder, name))
        if path in PAGES:
            path = "docs/" + PAGES[path]
        if not path.startswith("docs/") or not path.endswith(".md"):
            return label if path in label else f"{label} (`{path}`)"
        return f"[{label}]({posixpath.relpath(path, new_folder)}{sharp}{heading})"

    def image(found):
        path = posixpath.normpath(posixpath.join(folder, found[2]))
        return f"{found[1]}{posixpath.relpath(path, new_folder)})"

    return IMAGE.sub(image, LINK.sub(link, text))
