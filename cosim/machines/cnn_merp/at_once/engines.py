"""Engines that run at once in one top."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from merp.cosim.machines.cnn_merp.phases.delta import DeltaPhase
from merp.cosim.machines.cnn_merp.phases.forward import ForwardPhase
from merp.cosim.machines.cnn_merp.phases.kernel_update import KernelUpdate
from merp.hdl.base.signals import Bundles, flag
from merp.models.network.network import Layer, Network
from merp.testbenches.top.top import Top

Phase = ForwardPhase | DeltaPhase | KernelUpdate


class PortCount(NamedTuple):
    """A counter whose words are some of a port's.

    Attributes:
        whose: an engine's name. port: its. sign: -1 for words that do not come from there.
    """

    whose: str
    port: str
    sign: int = 1


@dataclass(frozen=True)
class ConcurrentEngine:
    """One of several engines.

    Attributes:
        place: of its layer, from 1. layer: the layer. phase: what it runs.
    """

    place: int
    layer: Layer
    phase: Phase

    @property
    def where(self) -> str:
        """What it is an engine of, in the names of the top's ports: ``layer2``."""
        return f"layer{self.place}"

    @property
    def part(self) -> str:
        """What it is an engine of, as people say it."""
        return self.layer.name

    @property
    def said(self) -> str:
        """The engine, as people say it."""
        return f"{self.part} {self.phase.name}"

    @property
    def name(self) -> str:
        """In the names of the top's ports: ``layer2_dp``."""
        return f"{self.where}_{self.phase.name}"

    @property
    def streams(self) -> Mapping[str, str]:
        """Stream of each port, as it is called on the engine's own top."""
        return self.phase.streams


class ConcurrentEngines(Protocol):
    """Engines that run at once in one top: those of a pipeline, or of a chain of nodes."""

    @property
    def engines(self) -> tuple[ConcurrentEngine, ...]:
        """All of them."""

    @property
    def design(self) -> object:
        """Elaboration of the top."""

    @property
    def network(self) -> Network:
        """What they train."""

    def pin(self, engine: ConcurrentEngine, port: str) -> str | None:
        """The top's stream that a port of an engine is; None where it joins another engine."""

    def joined(self, engine: ConcurrentEngine, port: str) -> tuple[PortCount, ...]:
        """Where the words of a port come from or go to that is no pin: the other end's count."""

    def top(self, array: str = "rtl") -> Top:
        """The block, with signals of its own."""


def top_args(of: ConcurrentEngines, registers: Mapping[str, Any], status: Any) -> dict[str, Any]:
    """Signals of a top of engines, with registers of its own beside theirs."""
    config: dict[str, Any] = dict(registers)
    pins: dict[str, dict[str, Any]] = {"s_axis": {}, "m_axis": {}}
    for engine in of.engines:
        ports, where = engine.phase.ports(), engine.where
        own = Bundles(ports.registers)
        vars(config.setdefault(where, Bundles({})))[engine.phase.name] = own
        for port, stream in engine.streams.items():
            pin = of.pin(engine, port)
            if pin is None:
                continue
            side, name = pin[:6], pin[7:]
            if name.startswith(where):
                inside = pins[side].setdefault(where, Bundles({}))
                vars(inside)[name.removeprefix(f"{where}_")] = vars(ports)[stream]
            else:
                pins[side][name] = vars(ports)[stream]
    return {
        **{name: flag() for name in ("clk", "rst", "start")},
        "config": Bundles(config),
        **{side: Bundles(streams) for side, streams in pins.items()},
        "status": status,
        "design": of.design,
    }
