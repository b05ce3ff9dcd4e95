"""Engines that run concurrently in one top."""

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
    """A counter whose words are a part of the words of a port.

    Attributes:
        whose: name of an engine.
        port: port of this engine.
        sign: -1 for words that must be subtracted.
    """

    whose: str
    port: str
    sign: int = 1


@dataclass(frozen=True)
class ConcurrentEngine:
    """One of several engines.

    Attributes:
        place: position of its layer, from 1.
        layer: the layer.
        phase: the phase that the engine runs.
    """

    place: int
    layer: Layer
    phase: Phase

    @property
    def where(self) -> str:
        """The part of the top to which the engine belongs, in port names: ``layer2``."""
        return f"layer{self.place}"

    @property
    def part(self) -> str:
        """The part of the top to which the engine belongs, in messages."""
        return self.layer.name

    @property
    def said(self) -> str:
        """The engine, in messages."""
        return f"{self.part} {self.phase.name}"

    @property
    def name(self) -> str:
        """The engine, in port names of the top: ``layer2_dp``."""
        return f"{self.where}_{self.phase.name}"

    @property
    def streams(self) -> Mapping[str, str]:
        """The stream of each port, under its name on the engine's own top."""
        return self.phase.streams


class ConcurrentEngines(Protocol):
    """Engines that run concurrently in one top: a pipeline or a chain of nodes."""

    @property
    def engines(self) -> tuple[ConcurrentEngine, ...]:
        """All engines."""

    @property
    def design(self) -> object:
        """Elaboration of the top."""

    @property
    def network(self) -> Network:
        """The network that the engines train."""

    def pin(self, engine: ConcurrentEngine, port: str) -> str | None:
        """Return the top's stream for a port of an engine.

        None if it connects to another engine.
        """

    def joined(self, engine: ConcurrentEngine, port: str) -> tuple[PortCount, ...]:
        """Return counters at the other end of an engine's port that is not a pin of the top."""

    def top(self, array: str = "rtl") -> Top:
        """The block, with its own signals."""


def top_args(of: ConcurrentEngines, registers: Mapping[str, Any], status: Any) -> dict[str, Any]:
    """Return the signals of a top of engines, with the top's own registers."""
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
