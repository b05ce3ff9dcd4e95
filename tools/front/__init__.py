"""Reference hardware for CNN training, with counted memory traffic and checked bits.

    import merp

    net = merp.load("alexnet")
    net.traffic(batch=128, count="all")
    net["conv3"].run(group=0).audit

Names are imported at their first use, so that the command line starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merp.cosim.block.replay import replay
    from merp.cosim.board.litex_device import LiteXDevice
    from merp.cosim.board.pynq_device import PynqDevice
    from merp.cosim.board.simulated_device import SimulatedDevice
    from merp.cosim.board.uio import UioDevice
    from merp.hdl.conversion.convert import convert
    from merp.hdl.conversion.entity import entity
    from merp.library.layer import Layer
    from merp.library.load import load, networks
    from merp.library.network import Network
    from merp.models.base.errors import BadInput
    from merp.testbenches.block.trace import Trace, run_block
    from merp.tools.common.rows import Rows
    from merp.tools.fpga.export.exports import Exports
    from merp.tools.fpga.layout.memory_layout import MemoryLayout
    from merp.tools.fpga.system.system_package import SystemPackage
    from merp.tools.plan.rows import Plan
    from merp.tools.simulate.layer_run import LayerRun
    from merp.tools.simulate.simulation import Simulation
    from merp.tools.traffic.traffic import Traffic
    from merp.tools.train.history import History
    from merp.tools.train.predict.evaluation import Evaluation
    from merp.tools.train.predict.prediction import Prediction
    from merp.tools.train.training import Training

__all__ = [
    "BadInput",
    "Evaluation",
    "Exports",
    "History",
    "Layer",
    "LayerRun",
    "LiteXDevice",
    "MemoryLayout",
    "Network",
    "Plan",
    "Prediction",
    "PynqDevice",
    "Rows",
    "SimulatedDevice",
    "Simulation",
    "SystemPackage",
    "Trace",
    "Traffic",
    "Training",
    "UioDevice",
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
    "Evaluation": "merp.tools.train.predict.evaluation",
    "Exports": "merp.tools.fpga.export.exports",
    "History": "merp.tools.train.history",
    "Layer": "merp.library.layer",
    "LayerRun": "merp.tools.simulate.layer_run",
    "LiteXDevice": "merp.cosim.board.litex_device",
    "MemoryLayout": "merp.tools.fpga.layout.memory_layout",
    "Network": "merp.library.network",
    "Plan": "merp.tools.plan.rows",
    "Prediction": "merp.tools.train.predict.prediction",
    "PynqDevice": "merp.cosim.board.pynq_device",
    "Rows": "merp.tools.common.rows",
    "SimulatedDevice": "merp.cosim.board.simulated_device",
    "Simulation": "merp.tools.simulate.simulation",
    "SystemPackage": "merp.tools.fpga.system.system_package",
    "Trace": "merp.testbenches.block.trace",
    "Traffic": "merp.tools.traffic.traffic",
    "Training": "merp.tools.train.training",
    "UioDevice": "merp.cosim.board.uio",
    "convert": "merp.hdl.conversion.convert",
    "entity": "merp.hdl.conversion.entity",
    "load": "merp.library.load",
    "networks": "merp.library.load",
    "replay": "merp.cosim.block.replay",
    "run_block": "merp.testbenches.block.trace",
}
"""The module of each public name."""


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name not in _HOMES:
        raise AttributeError(f"module 'merp' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
