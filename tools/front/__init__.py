"""Reference hardware for CNN training, its memory traffic counted and its bits checked.

    import merp

    net = merp.load("alexnet")
    net.traffic(batch=128, footing="full")
    net["conv3"].run(group=0).audit

Names are imported when they are first used, so that the command line starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merp.cosim.block.replay import replay
    from merp.hdl.conversion.convert import convert
    from merp.hdl.conversion.entity import entity
    from merp.models.base.errors import BadInput
    from merp.testbenches.block.trace import Trace, run_block
    from merp.tools.library.exports import Exports
    from merp.tools.library.layer import Layer
    from merp.tools.library.layer_run import LayerRun
    from merp.tools.library.load import load, networks
    from merp.tools.library.network import Network
    from merp.tools.library.plan import Plan
    from merp.tools.library.rows import Rows
    from merp.tools.library.simulation import Simulation
    from merp.tools.library.traffic import Traffic
    from merp.tools.library.training import Training

__all__ = [
    "BadInput",
    "Exports",
    "Layer",
    "LayerRun",
    "Network",
    "Plan",
    "Rows",
    "Simulation",
    "Trace",
    "Traffic",
    "Training",
    "convert",
    "entity",
    "load",
    "networks",
    "replay",
    "run_block",
]
__version__ = version("merp")

_HOMES = {
    "BadInput": "merp.models.base.errors",
    "Exports": "merp.tools.library.exports",
    "Layer": "merp.tools.library.layer",
    "LayerRun": "merp.tools.library.layer_run",
    "Network": "merp.tools.library.network",
    "Plan": "merp.tools.library.plan",
    "Rows": "merp.tools.library.rows",
    "Simulation": "merp.tools.library.simulation",
    "Trace": "merp.testbenches.block.trace",
    "Traffic": "merp.tools.library.traffic",
    "Training": "merp.tools.library.training",
    "convert": "merp.hdl.conversion.convert",
    "entity": "merp.hdl.conversion.entity",
    "load": "merp.tools.library.load",
    "networks": "merp.tools.library.load",
    "replay": "merp.cosim.block.replay",
    "run_block": "merp.testbenches.block.trace",
}
"""Module of each name."""


def __getattr__(name: str) -> Any:
    """A public name, imported now."""
    if name not in _HOMES:
        raise AttributeError(f"module 'merp' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Public names."""
    return sorted(__all__)
