"""``merp import``: convert an ONNX model to a network file and parameters."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from merp.models.base.errors import BadInput
from merp.tools.common import fields
from merp.tools.common.boards import open_board
from merp.tools.common.kinds import File, Flag
from merp.tools.common.output import Output, commit_together
from merp.tools.common.request import option
from merp.tools.common.table import console, table


@dataclass(frozen=True, kw_only=True)
class ImportOptions(fields.Tables):
    """The options of the verb."""

    model: Path = option(File(), "an ONNX model", "MODEL.onnx", required=True)
    output: Path = fields.output("file", "the network file", metavar="NET.toml", required=True)
    weights: Path | None = fields.output(
        "file",
        "the model's kernels and biases, for merp train and simulate (default: none)",
        "--weights",
        metavar="FILE.npz",
    )
    partial: bool = option(
        Flag(), "keep the layers in front of an unsupported node, and layers that no design runs"
    )
    without_lrn: bool = option(Flag(), "omit local response normalisations (LRN)")
    count_padding: bool = option(
        Flag(), "count zeros of padding in averages that leave it out (count_include_pad = 0)"
    )
    board: str | None = fields.board("none, a plan chooses the designs")


REQUEST = ImportOptions


def run(asked: ImportOptions) -> int:
    """Write the files, and list the nodes of each layer and the skipped nodes."""
    # A mistyped name must not overwrite the model.
    for name, path, suffix in (("-o", asked.output, ".toml"), ("--weights", asked.weights, ".npz")):
        if path is not None and path.suffix != suffix:
            raise BadInput(f"{name} {path}: must end in {suffix}")
    board = None if asked.board is None else open_board(asked.board)

    from merp.models.onnx.assembly import Allowed
    from merp.models.onnx.import_model import import_model  # import only if needed: it is slow
    from merp.tools.networks.imported import answer, network_file, weights_file, with_board

    allowed = Allowed(
        partial=asked.partial, without_lrn=asked.without_lrn, count_padding=asked.count_padding
    )
    imported = import_model(asked.model, allowed)
    designs = {} if board is None else with_board(imported, board)
    with ExitStack() as held:
        files = [held.enter_context(Output.of_file("-o", asked.output))]
        files[0].add({files[0].name: network_file(asked.model.name, imported, designs)})
        if asked.weights is not None:
            files.append(held.enter_context(Output.of_file("--weights", asked.weights)))
            files[1].add({files[1].name: weights_file(imported)})
        commit_together(files)
    found = answer(imported)
    if asked.json:
        print(json.dumps(found, indent=2))
        return 0
    rows = [
        (each["name"], "the model's" if each["weights"] else "none", ", ".join(each["nodes"]))
        for each in found["layers"]
    ]
    columns = ("layer", "weights", "nodes")
    console().print(table(f"{asked.model.name} as {asked.output}", columns, rows, text_columns=3))
    for line in found["said"]:
        print(line)
    for each in found["layers"]:
        if each["traffic_only"]:
            print(f"{each['name']}: traffic only: {each['traffic_only']}")
    if found["left"]:
        print(f"skipped, {len(found['left'])} nodes: {found['reason']}")
    return 0
