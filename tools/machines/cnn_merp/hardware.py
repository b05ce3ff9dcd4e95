"""The hardware half of CNN-MERP; each part is imported when it is asked for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from merp.models.fpga.order_codes import Target
from merp.models.network.network import Network

if TYPE_CHECKING:
    from merp.cosim.phases.phase import Phase
    from merp.tools.bitstream.engines import Engine
    from merp.tools.bitstream.settings import Asked, Settings
    from merp.tools.report.reports import Report
    from merp.tools.simulate.choice import Choice
    from merp.tools.simulate.choose import Picked
    from merp.tools.simulate.simulated import Simulated


class CnnMerpHardware:
    """What is asked of it, a member for each question."""

    @property
    def phases(self) -> Mapping[str, Callable[..., Phase]]:
        """What makes each phase, by its name."""
        from merp.cosim.phases.cnn_merp.phases import PHASES

        return PHASES

    @property
    def simulated(self) -> Simulated:
        """How it is simulated."""
        from merp.tools.simulate.cnn_merp import CnnMerp

        return CnnMerp()

    @property
    def report(self) -> Report:
        """How its report is made."""
        from merp.tools.machines.cnn_merp.report import REPORT

        return REPORT

    def choose(self, picked: Picked, **asked: Any) -> Choice:
        """What is to be simulated."""
        from merp.tools.simulate.choose import choose_layers

        return choose_layers(picked, **asked)

    def engine(self, network: Network, layer: str | None, phase: str | None) -> Engine:
        """The engine that a layer runs on in a phase."""
        from merp.tools.machines.cnn_merp.engine import engine

        return engine(network, layer, phase)

    def settings(self, network: Network, asked: Asked) -> Settings:
        """The registers of what runs a layer, and their values."""
        from merp.tools.machines.cnn_merp.settings import settings

        return settings(network, asked)

    def export(self, args: argparse.Namespace, network: Network, target: Target) -> int:
        """Write packages for a part, and list them."""
        from merp.tools.machines.cnn_merp.export import export

        return export(args, network, target)


HARDWARE = CnnMerpHardware()
