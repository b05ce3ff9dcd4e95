"""A module of F-CNN as a phase: the words of a run, and its expected results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.expectation import Expectation, GroupPass, ReportedPort, UnitWork
from merp.hdl.base.interface import Interface
from merp.models.base.bits import Bits
from merp.models.base.counters import Counter
from merp.models.base.register_table import RegisterTable
from merp.models.machines.fcnn.params.design import FcnnDesign
from merp.models.machines.fcnn.phases import design_of
from merp.models.machines.fcnn.words import MAPS, STATE, Work, work_of
from merp.models.network.branches import receiver
from merp.models.network.network import Layer, Network
from merp.testbenches.fcnn.described import described
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class Module(ABC):
    """A module of the layers that share a design.

    Attributes:
        streams: stream of each port, by the name of its word counter.
        last: outputs and inputs of which the last word ends a run.
        counters: cycle counters.
        table: registers.
        early_end: whether a run may last longer than its last word.
    """

    name: ClassVar[str]
    streams: ClassVar[Mapping[str, str]]
    last: ClassVar[tuple[str, ...]]
    counters: ClassVar[tuple[Counter, ...]]
    table: ClassVar[RegisterTable[Any, Any]]
    early_end: ClassVar[bool] = False

    network: Network
    design: FcnnDesign

    @classmethod
    def of(cls, network: Network, layer: Layer, **_: bool) -> Self:
        """Return the module on the design of ``layer``."""
        return cls(network, design_of(network, layer))

    def on(self, network: Network) -> Self:
        """Return the same elaboration for layers of another network."""
        return replace(self, network=network)

    @abstractmethod
    def top(self, array: str = "rtl") -> Top:
        """Return the block with its own signals."""

    def _top(self, function: Callable[..., Any], ports: Interface, design: Any, array: str) -> Top:
        """Return a block whose only parameter is its design."""
        describe = described(self.table, self.counters, self.streams)
        return Top.of(function, ports, {"design": design}, array, describe)

    @abstractmethod
    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the value of every register for a run of a group of ``layer``."""

    @abstractmethod
    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Return the run of a group of ``layer``, with operands of the step and golden outputs."""

    @abstractmethod
    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits | None:
        """Return the input of the next layer; None if the module does not compute it."""

    @abstractmethod
    def results(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> dict[str, Bits]:
        """Return the output arrays by name, of the groups of ``layer`` in ``records``."""

    @abstractmethod
    def store(self, layer: Layer, records: Sequence[RunRecord], step: StepSoFar) -> None:
        """Store the results of all groups of a layer as operands of later runs.

        Until its pooling has run, the output of a layer in ``step`` is its sums. Until its
        un-pooling has run, its delta is that of its output.
        """

    def work(self, layer: Layer, images: int) -> Work:
        """Return the work of a run of a group of ``layer``."""
        return work_of(self.network, layer, self.name, images)

    def words(self, layer: Layer, images: int) -> Mapping[str, int]:
        """Return the words on each port in a run, by formula."""
        return self.work(layer, images).words

    def _pass(
        self,
        layer: Layer,
        images: int,
        sent: Mapping[str, Bits],
        left: Mapping[str, Bits],
        meant: NDArray[np.bool_] | None = None,
    ) -> GroupPass:
        """Return a run.

        Args:
            layer: the layer.
            images: B.
            sent: words of each input port, in order.
            left: words of each output port, in order.
            meant: the words of the first output port that are compared; None: all.
        """
        work = self.work(layer, images)
        words, walked = work.words, work.walked
        (first, *_) = left
        ports = {
            name: ReportedPort(
                stream=self.streams[name],
                closed_form=words[name],
                counter=walked[name],
                word_bytes=1 if name in STATE else self.design.fmt.bytes,
                maps=name in MAPS,
                golden=left.get(name),
                meant=meant if name == first else None,
            )
            for name in words
        }
        units = UnitWork(
            n_cu=1,  # all kernels of a module work in the same cycles
            issue=work.issue,
            useful=work.useful,
            operations=self._operations(layer, images),
            ideal=work.useful,
        )
        return GroupPass(
            Run(
                config=self.registers(layer, images),
                words={
                    self.streams[name]: sent[name].reshape(-1)
                    for name in words
                    if self.streams[name].startswith("s_")
                },
                outputs={self.streams[name]: words[name] for name in left},
            ),
            Expectation(
                ports=ports, first=None, last=self.last, loads={}, work=units,
                counters=self.counters, early_end=self.early_end,
            ),
        )  # fmt: skip

    def _operations(self, layer: Layer, images: int) -> int:
        """Return the operations of a group: two per multiply-add."""
        return 2 * layer.shape.macs(images)


def named_gradients(kernels: Bits, biases: Bits) -> dict[str, Bits]:
    """Return the gradients of a layer by name."""
    return {"kernel_gradients": kernels, "bias_gradients": biases}


def hand_back(step: StepSoFar, layer: Layer, delta: Bits) -> None:
    """Store the delta of the input of a layer as that of the output in front."""
    front = receiver(step.network, layer)
    assert front is not None
    size = len(delta), front.shape.pooled_rows, front.shape.pooled_columns, -1
    step.hand_back(front, delta.reshape(size))
