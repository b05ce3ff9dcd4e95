"""Hook of the documentation site (mkdocs.yml): AlexNet's report inside, every page in its place.

The glossary is the file that ``merp help`` reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from merp.models.cnn_merp.published_speed import DDR4_GBS
from merp.models.fpga.order_codes import part_named
from merp.models.fpga.parts import DEFAULT
from merp.models.traffic.published import BATCH
from merp.tools.common.glossary import PAGE
from merp.tools.common.shipped import open_network
from merp.tools.report.choice import Choice
from merp.tools.report.document import document
from merp.tools.report.page import page

REPORT = "report/alexnet.html"
GLOSSARY = "glossary.md"
NAVIGATION = [
    {"Home": "index.md"},
    {"Tutorial": "tutorial.md"},
    {"From Python": "library.md"},
    {"A block of your own": "own-block.md"},
    {"Glossary": GLOSSARY},
    {
        "Traffic": [
            {"Report on AlexNet": REPORT},
            {"How a byte is counted": "traffic.md"},
            {"The paper, place by place": "paper.md"},
            {"Other tools": "workload.md"},
        ]
    },
]
FOLDERS = {"Blocks": "blocks", "Decisions": "adr"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put every page into the navigation: those named here first, then guides, then folders."""
    docs = Path(config.docs_dir)
    text = str(NAVIGATION)
    guides = sorted(path.name for path in docs.glob("*.md") if f"'{path.name}'" not in text)
    folders = [{title: _pages(docs / name, docs)} for title, name in FOLDERS.items()]
    config.nav = [*NAVIGATION, {"Guides": guides}, *folders]
    return config


def _pages(folder: Path, docs: Path) -> list[Any]:
    """Pages of a folder, then the folders inside under their names."""
    pages: list[Any] = [str(path.relative_to(docs)) for path in sorted(folder.glob("*.md"))]
    rooms = sorted(path for path in folder.iterdir() if path.is_dir())
    return pages + [{room.name: _pages(room, docs)} for room in rooms]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the report as ``merp report alexnet`` writes it, and the glossary."""
    files.append(File.generated(config, GLOSSARY, content=PAGE.read_text(encoding="utf-8")))
    part = part_named(DEFAULT)
    choice = Choice(
        network=open_network("alexnet"),
        batch=BATCH,
        part=part,
        clock_mhz=part.clock_mhz,
        bandwidth_gbs=DDR4_GBS,
    )
    files.append(
        File.generated(config, REPORT, content=page(document(choice, Path(REPORT).parent)))
    )
    return files
