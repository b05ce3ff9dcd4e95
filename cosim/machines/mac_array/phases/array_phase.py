"""Common parts of the MAC array's phases: one top, its ports, and the expectation of a pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.layout import Sent
from merp.cosim.phases.expectation import (
    Expectation,
    GroupPass,
    RecordedPasses,
    ReportedPort,
    UnitWork,
)
from merp.hdl.base.signals import BYTE
from merp.models.base.bits import Bits
from merp.models.golden.training import RATE
from merp.models.machines.mac_array.array_counter import walked_words
from merp.models.machines.mac_array.array_cycles import SLOTS
from merp.models.machines.mac_array.array_flow import array_cycles
from merp.models.machines.mac_array.array_traffic import OF_MAPS
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.machines.mac_array.geometry import geometry
from merp.models.machines.mac_array.params.array_counters import ARRAY_COUNTERS, counters_of
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign
from merp.models.machines.mac_array.params.window import largest_window
from merp.models.machines.mac_array.pass_words import pass_products, pass_words
from merp.models.machines.mac_array.passes import design_of
from merp.models.network.network import Layer, Network
from merp.testbenches.mac_array.trainer_bench import registers, trainer_top
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

MOMENTUM = 0.9
CYCLES = tuple(each for each in ARRAY_COUNTERS if not each.name.startswith("saturated"))
"""Counters of cycles and of the states of the MACs."""


@lru_cache(maxsize=64)
def ports_of(design: ArrayDesign) -> Mapping[str, str]:
    """Return the stream of each port of the traffic report. A port has the name of its counter."""
    ports = trainer_top(design).ports
    return {
        f"{pin.name[len('s_axis_') :]}_{side}": pin.name
        for side, pins in (("in", ports.inputs), ("out", ports.outputs))
        for pin in pins
    }


def usual_rates(design: ArrayDesign, images: int, seed: int = 0) -> FixedRates:
    """Return the default rates of a step, with momentum if the design supports it."""
    momentum = MOMENTUM if design.momentum else 0.0
    return FixedRates(rate=RATE / images, momentum=momentum, seed=seed, step=0)


class _Known(NamedTuple):
    """The properties of a pass that do not depend on its words. They are equal for every image.

    Attributes:
        registers: value of each configuration port.
        formula: words by port, counted by formula.
        walked: words by port, counted by walking the schedule.
        flow: cycles by counter.
        products: number of useful products.
    """

    registers: Mapping[str, int]
    formula: Mapping[str, int]
    walked: Mapping[str, int]
    flow: Mapping[str, int]
    products: int


@lru_cache(maxsize=256)
def _known(work: ArrayPass, design: ArrayDesign) -> _Known:
    return _Known(
        registers(work, design),
        pass_words(work, design),
        walked_words(work, design),
        asdict(array_cycles(work, design, kernel_first=design.kernel_first)),
        pass_products(work),
    )


@dataclass(frozen=True)
class ArrayPhase(ABC):
    """A phase of the layers that share an array.

    Attributes:
        network: network of the layers.
        design: the array.
        fused: whether deltas are stored at pooled resolution; otherwise at the resolution of the
            sums.
    """

    name: ClassVar[str]

    network: Network
    design: ArrayDesign
    fused: bool = False

    @classmethod
    def of(
        cls, network: Network, layer: Layer, *, state: bool = False, before: bool = False
    ) -> Self:
        """Return the phase on the array of ``layer``.

        Masks remain on the chip. Therefore ``state`` has no effect.
        """
        return cls(network, design_of(network, layer), before)

    def on(self, network: Network) -> Self:
        """Return the same elaboration for layers of another network."""
        return replace(self, network=network)

    def top(self, array: str = "rtl") -> Top:
        """Return the array as a top with its own signals, equal in every phase."""
        return trainer_top(self.design, array)

    @abstractmethod
    def works(
        self, layer: Layer, rates: FixedRates, *, first: bool, last: bool
    ) -> tuple[ArrayPass, ...]:
        """Return the passes of an image: passes that must precede, then the phase's own.

        Args:
            first: whether the image is the first of its batch.
            last: whether the image is the last of its batch.
        """

    @abstractmethod
    def own(self, layer: Layer, image: int, step: ArrayStep) -> GroupPass:
        """Return the phase's own pass of an image: operands from the step, golden outputs."""

    def golden_pass(self, layer: Layer, group: int, step: ArrayStep) -> GroupPass:
        """Return the phase's own pass of the first image. A layer has one group."""
        return self.own(layer, 0, step)

    def golden_passes(self, layer: Layer, image: int, step: ArrayStep) -> tuple[GroupPass, ...]:
        """Return the passes of ``works``, with operands from the step and golden outputs."""
        return (self.own(layer, image, step),)

    @abstractmethod
    def passes(self, layer: Layer, image: int, step: ArrayStep) -> RecordedPasses:
        """Run all passes of an image, and store the results in the step."""

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return all configuration values of the phase's own pass for the last image of a batch."""
        works = self.works(layer, usual_rates(self.design, images), first=images == 1, last=True)
        return registers(works[-1], self.design)

    def words(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the words on each port in all passes of a batch."""
        rates = usual_rates(self.design, images)
        found = dict.fromkeys(ports_of(self.design), 0)
        for image in range(images):
            ends = {"first": image == 0, "last": image == images - 1}
            for work in self.works(layer, rates, **ends):
                for port, words in pass_words(work, self.design).items():
                    found[port] += words
        return found

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits | None:
        """Return None. Only forward propagation has outputs for the next layer."""
        return None

    def made(
        self,
        layer: Layer,
        work: ArrayPass,
        sent: Mapping[str, Sent],
        golden: Mapping[str, Sent],
        clipped: Mapping[str, int],
    ) -> GroupPass:
        """Return a pass.

        Args:
            layer: the layer.
            work: description of the pass.
            sent: input words by port; other input ports receive none.
            golden: expected output words by port; other output ports have none.
            clipped: number of saturated words by counter; 0 for all other counters.
        """
        ports = ports_of(self.design)
        none = Sent(np.zeros(0, np.uint32), np.zeros(0, np.bool_))
        of_all = _known(work, self.design)
        words = {
            stream: sent.get(port, none).words
            for port, stream in ports.items()
            if port.endswith("_in")
        }
        wanted = {port: golden.get(port, none) for port in ports if port.endswith("_out")}
        outside = {
            port: ReportedPort(
                stream=stream,
                closed_form=of_all.formula.get(port, 0),
                counter=of_all.walked.get(port, 0),
                word_bytes=WORD_BITS // BYTE,
                maps=port in OF_MAPS,
                golden=wanted[port].words if port in wanted else None,
                meant=wanted[port].meant if port in wanted else None,
            )
            for port, stream in ports.items()
        }
        kept = {each.name: 0 for each in counters_of(self.design) if each not in CYCLES}
        return GroupPass(
            Run(config=of_all.registers, words=words),
            Expectation(
                ports=outside,
                first=None,
                last=tuple(golden),
                loads={},
                work=self._work(layer, work),
                early_end=_ends_behind(work),
                counters=CYCLES,
                known={**of_all.flow, **kept, **clipped},
            ),
        )

    def _work(self, layer: Layer, work: ArrayPass) -> UnitWork:
        operations = 0 if work.phase == "upsample" else layer.operations()
        largest = largest_window(self.design.max_kernel, self.design.reach)
        seen = replace(
            geometry(self.network, layer, largest),
            out_rows=work.delta_rows,
            out_columns=work.delta_columns,
        )
        return UnitWork(
            n_cu=self.design.macs,
            issue=SLOTS[work.phase](seen, self.design) if work.phase in SLOTS else 0,
            useful=_known(work, self.design).products,
            operations=operations,
            ideal=operations / 2 / self.design.macs,
        )


def _ends_behind(work: ArrayPass) -> bool:
    """Return whether work follows the last output word: sums that pooling drops, or unused rows."""
    if work.phase == "fp":
        window = work.pool if work.fused else 1
        return bool(work.out_rows % window or work.out_columns % window)
    if work.phase == "ku":
        return any(
            (out - 1) * work.stride + work.kernel - work.pad < size
            for size, out in ((work.rows, work.out_rows), (work.columns, work.out_columns))
        )
    return False
