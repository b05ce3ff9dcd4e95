"""``merp export-weights``: kernels and biases back into the ONNX model they came from."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from merp.models.base.errors import BadInput
from merp.tools.common.arguments import add_json, add_written
from merp.tools.common.output import Output
from merp.tools.common.shipped import MODEL


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument(
        "weights",
        type=Path,
        metavar="WEIGHTS.npz",
        help="what merp train saved, or kernels and biases of one's own",
    )
    parser.add_argument(
        "model", type=Path, metavar="MODEL.onnx", help="the model their network was imported from"
    )
    add_written(
        parser,
        "-o",
        "--output",
        required=True,
        metavar="NEW.onnx",
        help="the new model",
        place=Output.of_file,
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the model, and say which layers are new in it."""
    if args.output.suffix != MODEL:
        raise BadInput(f"-o {args.output}: must end in {MODEL}")
    from merp.models.onnx.import_model import import_model  # slow imports wait
    from merp.models.onnx.write_back import write_back
    from merp.tools.common.kernel_file import read_pairs

    imported = import_model(args.model)
    words = read_pairs(args.weights, imported.network)
    with Output.of_file("-o", args.output) as output:
        output.write({output.name: write_back(imported, words)})
    if args.json:
        answer = {"model": args.model.name, "layers": list(words), "file": str(args.output)}
        print(json.dumps(answer, indent=2))
    else:
        print(f"{args.output}: {', '.join(words)} of {args.weights}")
    return 0
