"""The schedule of a network's bitstreams: the order of loading, and the settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from merp.models.fpga.configuration import load_seconds
from merp.models.fpga.order_codes import FlowTarget
from merp.models.network.network import Network
from merp.models.network.network_keys import json_backward
from merp.models.network.phases import called
from merp.tools.common.owned import manifest_sha
from merp.tools.fpga.bitstream.bitstream import schedule
from merp.tools.fpga.export.exported import exported_of
from merp.tools.fpga.export.package import render

PAGE, SCHEDULE = "README.md", "schedule.json"


def concatenations(network: Network) -> dict[str, dict[str, list[str]]]:
    """Return the key of the schedule with the layers of each concatenation, if there are any."""
    found = {
        name: [part.name for part in each.parts]
        for name, each in network.feeds.concatenations.items()
    }
    return {"concatenations": found} if found else {}


def schedule_files(
    network: Network,
    target: FlowTarget,
    manifests: Mapping[str, Mapping[str, Any]],
    **choice: bool,
) -> dict[str, str]:
    """Return the schedule of a training step and the page about it, by file names.

    Args:
        network: the network.
        target: the FPGA.
        manifests: manifest of each bitstream, by its name.
        choice: as in ``schedule``.
    """
    passes: list[dict[str, Any]] = []
    exported = exported_of(network)
    for bitstream, layer in schedule(network, **choice):
        manifest = manifests[bitstream.name]
        phase = bitstream.phase.name
        facts = next(
            each for each in manifest["layers"] if each["layer"] == called(network, layer, phase)
        )
        passes.append(
            {
                "bitstream": bitstream.name,
                "load": not passes or passes[-1]["bitstream"] != bitstream.name,
                "layer": facts["layer"],
                "runs": facts["runs"],
                "streams": {
                    stream: exported.operand(bitstream, layer, told["port"])._asdict()
                    for stream, told in manifest["streams"].items()
                    if facts["words"][told["port"]]
                },
                "registers": [
                    {"address": manifest["registers"][name], "name": name, "value": value}
                    for name, value in facts["registers"].items()
                ],
            }
        )
    # Steps repeat. If the last pass leaves the first bitstream loaded, the first pass need not load
    # it.
    repeats = passes[0]["bitstream"] == passes[-1]["bitstream"]
    part = target.part
    document = {
        "network": network.name,
        "part": target.order_code,
        "images": next(iter(manifests.values()))["layers"][0]["images"],
        "bitstreams": [
            {
                "name": name,
                "title": manifest["title"],
                "top": manifest["top"],
                "layers": [each["layer"] for each in manifest["layers"]],
                "manifest_sha256": manifest_sha(manifest),
            }
            for name, manifest in manifests.items()
        ],
        "loads_in_a_step": sum(each["load"] for each in passes) - repeats,
        "last_layer": network.layers[-1].name,
        **concatenations(network),
        "backward": json_backward(network.backward),
        "delta_at": "pooled" if choice["before"] else "sums",
        "load_milliseconds": part and round(1e3 * load_seconds(part.configuration_bits), 1),
        "passes": passes,
    }
    return {
        PAGE: render("all.md", document),
        SCHEDULE: json.dumps(document, indent=2) + "\n",
    }
