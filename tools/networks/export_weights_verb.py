"""``merp export-weights``: write kernels and biases back into their ONNX model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from merp.models.base.errors import BadInput
from merp.tools.common import fields
from merp.tools.common.kinds import File
from merp.tools.common.output import Output
from merp.tools.common.request import option
from merp.tools.common.shipped import MODEL


@dataclass(frozen=True, kw_only=True)
class ExportWeightsOptions(fields.Answer):
    """The options of the verb."""

    weights: Path = option(
        File(),
        "a file of merp train --save, or your own kernels and biases",
        "WEIGHTS.npz",
        required=True,
    )
    model: Path = option(
        File(), "the model that their network was imported from", "MODEL.onnx", required=True
    )
    output: Path = fields.output("file", "the new model", metavar="NEW.onnx", required=True)


REQUEST = ExportWeightsOptions


def run(asked: ExportWeightsOptions) -> int:
    """Write the model, and list the layers with new parameters."""
    if asked.output.suffix != MODEL:
        raise BadInput(f"-o {asked.output}: must end in {MODEL}")
    from merp.models.onnx.import_model import import_model  # import only if needed: it is slow
    from merp.models.onnx.write_back import write_back
    from merp.tools.common.kernel_file import read_pairs

    imported = import_model(asked.model)
    words = read_pairs(asked.weights, imported.network)
    with Output.of_file("-o", asked.output) as output:
        output.write({output.name: write_back(imported, words)})
    if asked.json:
        answer = {"model": asked.model.name, "layers": list(words), "file": str(asked.output)}
        print(json.dumps(answer, indent=2))
    else:
        print(f"{asked.output}: {', '.join(words)} of {asked.weights}")
    return 0
