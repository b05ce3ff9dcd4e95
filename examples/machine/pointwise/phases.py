"""The phases of the machine: what a run sends, what it must give back, and what comes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.expectation import Expectation, GroupPass, Pair, ReportedPort, UnitWork
from merp.models.base.bits import Bits
from merp.models.golden.training import RATE, rates_of
from merp.models.network.network import Layer, Network
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top
from pointwise import golden
from pointwise.counts import pixels_of, port_words, steps, walked_words
from pointwise.design import COUNTERS, TABLE, WORDS, Design, PointRun
from pointwise.hardware import PointwisePorts, pointwise


@dataclass(frozen=True)
class PointPhase(ABC):
    """A phase of the layers that share a design: they run on one block."""

    name: ClassVar[str]

    network: Network
    design: Design

    @classmethod
    def of(cls, network: Network, layer: Layer, **_: bool) -> Self:
        """On the design of ``layer``."""
        design = network.design(layer)
        assert isinstance(design, Design)
        return cls(network, design)

    def on(self, network: Network) -> Self:
        """The same elaboration, for layers of another network."""
        return replace(self, network=network)

    def top(self, array: str = "rtl") -> Top:
        """The block, with signals of its own."""
        return Top.of(pointwise, PointwisePorts(self.design), {"design": self.design}, array)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Value of every register for a run, at the golden step's rate."""
        return self._registers(layer, images, rates_of(RATE, images, self.design.fmt).rate)

    def words(self, layer: Layer, images: int) -> dict[str, int]:
        """Words on each port, by formula."""
        return port_words(self.name, layer.shape, images)

    @abstractmethod
    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """A run of the layer, fed from the golden step."""

    def _registers(self, layer: Layer, images: int, rate: int) -> dict[str, int]:
        pixels, minus = pixels_of(layer.shape, images), rate ^ self.design.fmt.sign_bit
        return TABLE.values(PointRun(layer.shape, pixels, self.name == "ku", minus))

    def _pass(
        self, layer: Layer, images: int, rate: int, sent: dict[str, Bits], left: dict[str, Bits]
    ) -> GroupPass:
        """A run; ``sent``, ``left``: words that go in and must come out, by port."""
        shape, none = layer.shape, np.zeros(0, np.uint32)
        walked = walked_words(self.name, shape, images)
        ports = {
            name: ReportedPort(
                stream=stream, closed_form=count, counter=walked[name],
                word_bytes=self.design.fmt.bytes, maps=not name.startswith("kernel"),
                golden=left.get(name, none) if stream.startswith("m_") else None,
            )
            for (name, stream), count in zip(
                WORDS.items(), self.words(layer, images).values(), strict=True
            )
        }  # fmt: skip
        inputs = {
            stream: sent.get(name, none).reshape(-1)
            for name, stream in WORDS.items()
            if stream.startswith("s_")
        }
        macs = shape.macs(images)
        work = UnitWork(
            n_cu=1, issue=steps(self.name, shape, images), useful=macs, operations=2 * macs,
            ideal=macs,
        )  # fmt: skip
        return GroupPass(
            Run(config=self._registers(layer, images, rate), words=inputs),
            Expectation(
                ports=ports, first=None, last=tuple(left), loads={}, work=work, counters=COUNTERS
            ),
        )


class Forward(PointPhase):
    """Forward propagation."""

    name = "fp"

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Maps of the step, by the golden of the machine."""
        x, rows = step.x(layer), _rows(step.parameters[layer.name])
        flat = x.reshape(-1, layer.shape.n)
        y = golden.forward(flat, rows, layer.shape.relu, self.design.fmt)
        sent = {"map_in": x, "kernel": rows}
        return self._pass(layer, len(x), 0, sent, {"map_out": y})

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits:
        """Output maps."""
        shape = layer.shape
        (record,) = records
        return record.array("m_axis_map", (images, shape.out_rows, shape.out_columns, shape.m))


class Update(PointPhase):
    """Kernel update."""

    name = "ku"

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Maps and deltas of the step, by the golden of the machine."""
        passed, rate = step.passed(layer), step.rates.rate
        rows = _rows(step.parameters[layer.name])
        x, deltas = (each.reshape(-1, each.shape[-1]) for each in (passed.x, passed.sums))
        sent = {"map_in": x, "delta_in": deltas, "kernel": rows}
        new = golden.update(x, deltas, rows, rate, self.design.fmt)
        return self._pass(layer, len(passed.x), rate, sent, {"kernel_out": new})

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> None:
        """Kernels are no layer's input."""

    def updated(self, layer: Layer, records: Sequence[RunRecord]) -> Pair:
        """New kernels and biases."""
        shape = layer.shape
        (record,) = records
        rows = record.array("m_axis_kernel", (shape.m, 1 + shape.n))
        return rows[:, 1:].reshape(shape.m, shape.n, 1, 1), rows[:, 0]


def _rows(pair: Pair) -> Bits:
    """Kernels and biases as rows: of each output map the bias, then its kernel elements."""
    kernels, biases = pair
    return np.concatenate([biases[:, None], kernels.reshape(len(biases), -1)], axis=1)


PHASES = {each.name: each.of for each in (Forward, Update)}
