"""``merp import``: a network file, and parameters, of an ONNX model."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from pathlib import Path

from merp.models.base.errors import BadInput
from merp.tools.common.arguments import add_tables, add_written
from merp.tools.common.boards import add_board, open_board
from merp.tools.common.output import Output, commit_together
from merp.tools.common.table import console, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("model", type=Path, metavar="MODEL.onnx", help="an ONNX model")
    add_written(
        parser,
        "-o",
        "--output",
        required=True,
        metavar="NET.toml",
        help="the network file",
        place=Output.of_file,
    )
    add_written(
        parser,
        "--weights",
        metavar="FILE.npz",
        help="the model's kernels and biases, for merp train and simulate (default: none)",
        place=Output.of_file,
    )
    parser.add_argument(
        "--partial",
        action="store_true",
        help="keep the layers in front of what is not supported, and those that no design runs",
    )
    add_board(parser, "none: designs are left to the plan")
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Write the files, and say what became of which node."""
    # A name that is mistaken for another must not take the place of the model.
    for option, path, suffix in (("-o", args.output, ".toml"), ("--weights", args.weights, ".npz")):
        if path is not None and path.suffix != suffix:
            raise BadInput(f"{option} {path}: must end in {suffix}")
    board = None if args.board is None else open_board(args.board)

    from merp.models.onnx.import_model import import_model  # slow imports wait
    from merp.tools.onnx.answer import answer, network_file, weights_file, with_board

    imported = import_model(args.model, partial=args.partial)
    designs = {} if board is None else with_board(imported, board)
    with ExitStack() as held:
        files = [held.enter_context(Output.of_file("-o", args.output))]
        files[0].add({files[0].name: network_file(args.model.name, imported, designs)})
        if args.weights is not None:
            files.append(held.enter_context(Output.of_file("--weights", args.weights)))
            files[1].add({files[1].name: weights_file(imported)})
        commit_together(files)
    found = answer(imported)
    if args.json:
        print(json.dumps(found, indent=2))
        return 0
    rows = [
        (
            each["name"],
            "the model's" if each["weights"] else "none",
            ", ".join(each["nodes"]),
        )
        for each in found["layers"]
    ]
    columns = ("layer", "weights", "nodes")
    console().print(table(f"{args.model.name} as {args.output}", columns, rows, text_columns=3))
    for line in found["said"]:
        print(line)
    for each in found["layers"]:
        if each["traffic_only"]:
            print(f"{each['name']}: traffic only: {each['traffic_only']}")
    if found["left"]:
        print(f"skipped, {len(found['left'])} nodes: {found['reason']}")
    return 0
