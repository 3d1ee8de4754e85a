"""What mkdocs.yml adds to docs/: each notebook as a page, with what it printed and drew when scripts/run_notebooks.py
ran it; without that if its code has changed since, and then the page says so.
"""

import base64
import json
import posixpath
import re

import docs_pages
from mkdocs.structure.files import File
from notebook_runs import SOURCES, name_of, sources, was_run

COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
MOST_LINES = 60
NOT_RUN = "*Shown without its output: its code was not run since it changed. `scripts/docs --run-notebooks` runs it.*\n"
KINDS = {"pxcpp": "cpp"}  # kernel: language of its cells


def names():
    return [name_of(path) for path in sources()]


def read(name):
    return json.loads((SOURCES / f"{name}.ipynb").read_text())


def title(name):
    """The heading of its first cell."""
    text = "".join(read(name)["cells"][0]["source"])
    return re.match(r"# (.+)", text)[1]


def fenced(text, kind):
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{kind}\n{text.rstrip()}\n{fence}\n"


def shortened(text):
    lines = COLOURS.sub("", text).rstrip().splitlines()
    left_out = len(lines) - MOST_LINES
    if left_out > 0:
        half = MOST_LINES // 2
        lines[half:-half] = [f"... {left_out} lines more ..."]
    return "\n".join(lines)


def shown(output, add_image):
    """An output of a cell as Markdown."""
    if output["output_type"] == "stream":
        return fenced(shortened("".join(output["text"])), "text")
    if output["output_type"] == "error":
        return fenced(shortened("\n".join(output["traceback"])), "text")
    data = output.get("data", {})
    if "image/png" in data:
        return f"![A picture that this cell drew]({add_image(base64.b64decode(data['image/png']))})\n"
    text = "".join(data.get("text/plain", ""))
    return fenced(shortened(text), "text") if text.strip() else ""


def joined_streams(outputs):
    """The outputs, those of one stream in a row as one."""
    joined = []
    for output in outputs:
        is_more = (joined and output["output_type"] == joined[-1]["output_type"] == "stream"
                   and output["name"] == joined[-1]["name"])  # fmt: skip
        if is_more:
            joined[-1] = {**output, "text": "".join(joined[-1]["text"]) + "".join(output["text"])}
        else:
            joined.append(output)
    return joined


def as_markdown(book, add_image, folder="notebooks"):
    language = KINDS.get(book["metadata"]["kernelspec"]["name"], "python")
    parts = []
    for cell in book["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(docs_pages.moved(text, folder, f"docs/{folder}") + "\n")
        elif text.strip():
            parts.append(fenced(text, "cpp" if text.startswith("%%cpp") else language))
            if was_run(book):
                parts += [shown(output, add_image) for output in joined_streams(cell["outputs"])]
    if not was_run(book):
        parts.insert(1, NOT_RUN)
    return "\n".join(part for part in parts if part)


def on_config(config):
    pages = [{"All": "notebooks.md"}, *({title(name): f"notebooks/{name}.md"} for name in names())]
    docs_pages.fill_navigation(config, "Notebooks", pages)
    return config


def on_files(files, config):
    listing = ["# Notebooks", "", "Stories to run: open them in JupyterLab from the folder `notebooks/` of the source.", ""]
    for name in names():
        images = []

        def add_image(content, name=name, images=images):
            images.append(content)
            return f"{posixpath.basename(name)}_{len(images)}.png"

        folder = posixpath.dirname(f"notebooks/{name}")
        content = as_markdown(read(name), add_image, folder)
        files.append(File.generated(config, f"notebooks/{name}.md", content=content))
        for number, content in enumerate(images, 1):
            files.append(File.generated(config, f"notebooks/{name}_{number}.png", content=content))
        listing.append(f"* [{title(name)}](notebooks/{name}.md)")
    files.append(File.generated(config, "notebooks.md", content="\n".join(listing) + "\n"))
    return files
