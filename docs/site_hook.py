"""Hook of the documentation site (mkdocs.yml): AlexNet's report inside, every page in its place.

Diagrams become part of their pages, so that their boxes are links and take the theme's colours. The
glossary is the file that ``merp help`` reads. The pages of blocks get the tables of their ports.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from site_report import PAGE as REPORT
from site_report import site_report

from merp.tools.common.glossary import PAGE
from options import filled as with_options
from ports import filled
from stages import staged

GLOSSARY = "glossary.md"
NAVIGATION: list[dict[str, Any]] = [
    {"Home": "index.md"},
    {
        "Tutorials": [
            {"A report of your own network": "tutorial.md"},
            {"First block in an hour": "first-block.md"},
            {"Notebook: traffic of your network": "notebooks/traffic.md"},
            {"Notebook: a layer in hardware": "notebooks/layer.md"},
        ]
    },
    {
        "How to": [
            {"Use merp from Python": "library.md"},
            {"Import an ONNX model": "onnx.md"},
            {"Plan a network on a board": "plan.md"},
            {"Find the best designs": "explore.md"},
            {"Train in the hardware's arithmetic": "training.md"},
            {"Predict and evaluate": "predict.md"},
            {"Choose fixed-point formats": "formats.md"},
            {"Export VHDL and Verilog": "export.md"},
            {"Zynq: from export to training": "route-zynq.md"},
            {"Test a package with cocotb": "cocotb.md"},
            {"Record waveforms": "waveforms.md"},
            {"Compare architectures": "compare.md"},
            {"Simulate a chain of boards": "cluster.md"},
            {"Evaluate many variants": "sweep.md"},
            {"Export workloads to other tools": "workload.md"},
            {"Convert a block of your own": "own-block.md"},
            {"Add a machine of your own": "own-machine.md"},
        ]
    },
    {
        "Reference": [
            {"Verbs": "verbs.md"},
            {"Options": "options.md"},
            {"The command line": "command_line.md"},
            {"API": "api.md"},
            {"Network files": "networks.md"},
            {"AXI interfaces": "axi.md"},
            {"Simulated boards": "board.md"},
            {"Arrays in memory": "layout.md"},
            {"Drivers": "drivers.md"},
            {"An accelerator that trains from memory": "system.md"},
            {"ECP5: from export to training": "route-ecp5.md"},
            {"Output files": "output.md"},
            {"The converter": "conversion.md"},
            {"MyHDL's own test suite": "myhdl-suite.md"},
            {"Security": "security.md"},
            {"Former names": "names.md"},
            {"Glossary": GLOSSARY},
        ]
    },
    {
        "Explanation": [
            {"How a byte is counted": "traffic.md"},
            {"Numbers": "numbers.md"},
            {"Engines and the audit": "engines.md"},
            {"FPGA resources": "resources.md"},
            {"Architecture of the package": "architecture.md"},
            {"Verification": "verification.md"},
            {"Style of the texts": "style.md"},
            {"Report on AlexNet": REPORT},
            {"CNN-MERP, place by place": "paper.md"},
            {"F-CNN, place by place": "papers/fcnn.md"},
            {"RTL compiler, place by place": "papers/rtl-compiler.md"},
            {"FPDeep, place by place": "papers/fpdeep.md"},
            {"Mazouz and Bridges, place by place": "papers/mazouz.md"},
        ]
    },
]
DIAGRAM = re.compile(r'<p><img alt="([^"]*)" src="([^"]*diagrams/\w+\.svg)" ?/></p>')


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put every page into the navigation: those named here, blocks by stage, decisions.

    Raises:
        PluginError: a page has no place.
    """
    docs = Path(config.docs_dir)
    text = str(NAVIGATION)
    missing = [path.name for path in docs.glob("*.md") if f"'{path.name}'" not in text]
    if missing:
        raise PluginError(f"docs/site_hook.py: no place in the navigation: {', '.join(missing)}")
    stages = [
        {stage: [f"blocks/{path}" for path in pages]}
        for stage, pages in staged(docs / "blocks").items()
    ]
    decisions = [f"adr/{path.name}" for path in sorted((docs / "adr").glob("*.md"))]
    config.nav = [*NAVIGATION, {"Blocks": stages}, {"Decisions": decisions}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the report with its records and its picture, and the glossary."""
    files.append(File.generated(config, GLOSSARY, content=PAGE.read_text(encoding="utf-8")))
    for name, content in site_report(Path(config.docs_dir), config.site_url).items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put tables of ports, options and keywords where a page has a mark."""
    in_blocks = page.file.src_uri.startswith("blocks/")
    return with_options(filled(markdown) if in_blocks else markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the text of each diagram in place of its picture, its links as this page has them."""
    here = posixpath.dirname(page.file.src_uri)

    def drawn(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(here, found[2]))
        text = (Path(config.docs_dir) / path).read_text(encoding="ascii")

        def link(target: re.Match[str]) -> str:
            name = posixpath.normpath(posixpath.join(posixpath.dirname(path), target[1]))
            led = files.get_file_from_path(name)
            if led is None:
                raise PluginError(f"{path}: links to {name}, which is not there")
            return f'href="{get_relative_url(led.url, page.url)}"'

        svg = re.sub(r'href="([^"]*)"', link, text).rstrip()
        return (
            f'<div class="drawing" role="region" aria-label="{found[1]}" tabindex="0">{svg}</div>'
        )

    return DIAGRAM.sub(drawn, html)
