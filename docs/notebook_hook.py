"""Hook of the documentation site (mkdocs.yml): the notebooks of ``examples``, run as it is built.

In the repository they have no outputs; the site shows those of the code that it documents. A page
is Markdown, as all others are, so that both themes, the search and the checks of links hold for it.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

ROOM = "notebooks"
"""Of the pages on the site, and of the notebooks in ``examples``."""

SOURCE = "The notebook itself is `examples/{room}/{name}` in the repository.\n"
PICTURE = re.compile(r"!\[png\]\((\w+\.png)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page per notebook, with its pictures."""
    for path in sorted((Path(config.docs_dir).parent / "examples" / ROOM).glob("*.ipynb")):
        for name, content in _pages(path).items():
            files.append(File.generated(config, f"{ROOM}/{name}", content=content))
    return files


def _pages(path: Path) -> dict[str, str | bytes]:
    """Run a notebook; its page and the page's pictures by file name."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    quiet = ["--IPKernelApp.log_level=40"]
    NotebookClient(notebook, timeout=600, kernel_name="python3", extra_arguments=quiet).execute()
    text, resources = MarkdownExporter().from_notebook_node(notebook)
    pictures = {f"{path.stem}-{name}": data for name, data in resources["outputs"].items()}
    text = PICTURE.sub(lambda found: f"![{_said(text, found)}]({path.stem}-{found[1]})", text)
    text = re.sub(r"\]\(\.\./\.\./docs/", "](../", text)
    return {f"{path.stem}.md": text + "\n" + SOURCE.format(room=ROOM, name=path.name), **pictures}


def _said(text: str, found: re.Match[str]) -> str:
    """What a picture shows: the heading above it."""
    return re.findall(r"^#+ (.*)$", text[: found.start()], re.MULTILINE)[-1]
