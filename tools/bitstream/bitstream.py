"""What is loaded into the FPGA at once: a design in a phase, and the layers that run on it.

CNN-MERP section VI: a kernel size and a phase are a bitstream; sizes of a layer are registers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from merp.models.cnn_merp.cycles import Cycles, layer_cycles
from merp.models.cnn_merp.phases import (
    DeltaDesign,
    delta_design,
    maps_behind,
    update_design,
    update_unpool_design,
)
from merp.models.cnn_merp.reconfiguration import layer_passes
from merp.models.errors import BadInput
from merp.models.golden.training import RATE, Rates
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase, previous
from merp.models.params.cnn_merp.delta_registers import delta_registers
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.kernel_update_registers import kernel_update_registers
from merp.models.params.cnn_merp.registers import registers
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign
from merp.models.params.cnn_merp.unpool_registers import unpool_registers
from merp.models.traffic import closed_form
from merp.testbenches.cnn_merp.delta_top import delta_top
from merp.testbenches.cnn_merp.forward_top import forward_top
from merp.testbenches.cnn_merp.kernel_update_top import kernel_update_top
from merp.testbenches.top.top import Top


def slug(text: str, joint: str) -> str:
    """Letters and digits of ``text`` in lower case, ``joint`` for everything between them."""
    return re.sub(r"[^a-z0-9]+", joint, text.lower()).strip(joint)


def plain(text: str) -> str:
    """``text`` as every language of an export takes it in a comment or a string."""
    return re.sub(r"[^A-Za-z0-9 ._+-]", "_", text)


@dataclass(frozen=True, kw_only=True)
class Bitstream:
    """A design in a phase.

    Attributes:
        network: with its designs. design: the name of one. phase: ``fp``, ``dp`` or ``ku``.
        layers: that run on it, in the network's order.
        state: forward propagation also writes the state for the way back.
        before: deltas are stored at pooled resolution, and expanded before the engine.
    """

    network: Network
    design: str
    phase: str
    layers: tuple[Layer, ...]
    state: bool = False
    before: bool = False

    @property
    def name(self) -> str:
        """As a folder."""
        return slug(f"{self.network.name}-{self.design}-{self.phase}", "-")

    @property
    def entity(self) -> str:
        """As a VHDL entity; a name of its own wherever it is used."""
        return slug(f"merp_{self.network.name}_{self.design}_{self.phase}", "_")

    @property
    def forward(self) -> Design:
        """Elaboration of forward propagation."""
        return replace(self.network.design(self.layers[0]), state=self.state)

    @property
    def delta(self) -> DeltaDesign:
        """Elaboration of delta propagation."""
        return delta_design(self.network, self.layers[0], self.before)

    @property
    def update(self) -> tuple[Design, UnpoolDesign | None]:
        """Elaboration of kernel update, and of un-pooling in front of it."""
        layer = self.layers[0]
        undone = update_unpool_design(self.network, layer) if self.before else None
        return update_design(self.network, layer), undone

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Value of every configuration port for a run of one group of ``layer``."""
        shape = layer.shape
        if self.phase == "fp":
            return registers(shape, images, self.forward)
        if self.phase == "dp":
            undone, maps = self._undone(layer)
            delta = self.delta
            return delta_registers(shape, undone, maps, images, delta.engine, delta.unpool)
        design, unpool = self.update
        rate = Rates.of(RATE, 0.0, images, design.fmt).rate
        found = kernel_update_registers(shape, images, design, rate)
        return found | (unpool_registers(shape, shape.m, images, unpool) if unpool else {})

    def words(self, layer: Layer, images: int) -> Mapping[str, int]:
        """Words (of state: bytes) on each port in a run of one group of ``layer``."""
        shape = layer.shape
        if self.phase == "fp":
            found = dict(closed_form.port_words(shape, images))
            if self.state:
                found["state_out"] = closed_form.state_bytes(shape, shape.m, images)
            return found
        if self.phase == "dp":
            undone, maps = self._undone(layer)
            return closed_form.delta_port_words(shape, undone, maps, images, self.before)
        return closed_form.update_port_words(shape, images, self.before)

    def cycles(self, layer: Layer, images: int) -> Cycles | None:
        """Modelled cycles of all groups; None where deltas are expanded before the engine."""
        return None if self.before else layer_cycles(self.network, layer, self.phase, images)

    def _undone(self, layer: Layer) -> tuple[Any, int]:
        """Shape of the layer whose pooling delta propagation undoes, and its maps in a pass."""
        if self.before:
            return layer.shape, layer.shape.m
        earlier = previous(self.network, layer)
        assert earlier is not None
        return earlier.shape, maps_behind(layer.shape, earlier.shape)


def bitstream_of(network: Network, layer: Layer, phase: str, **choice: bool) -> Bitstream:
    """Return the bitstream that ``layer`` runs on in ``phase``.

    Raises:
        BadInput: the layer has no design, or it is the first one, which has no delta to propagate;
            or designs are not told apart by letters and digits.
    """
    network.design(layer)  # says so where there is none
    if not has_phase(network, layer, phase):
        raise BadInput(
            f"--phase dp: {layer.name} is the first layer, its input has no delta: "
            f"allowed: fp, ku, or another layer"
        )
    _check_names(network, "designs", list(network.designs))
    _check_names(network, "layers", [each.name for each in network.layers])
    layers = tuple(
        each
        for each in network.layers
        if each.design == layer.design and has_phase(network, each, phase)
    )
    assert layer.design is not None
    return Bitstream(network=network, design=layer.design, phase=phase, layers=layers, **choice)


def _check_names(network: Network, what: str, names: Sequence[str]) -> None:
    """Files are called after them."""
    slugs = {slug(name, "-") for name in names}
    if len(slugs) < len(names) or "" in slugs:
        raise BadInput(
            f"{network.name}: {what} {', '.join(names)}: their names must differ in small letters "
            f"or digits to be exported"
        )


def schedule(network: Network, **choice: bool) -> Iterator[tuple[Bitstream, Layer]]:
    """Yield bitstream and layer of each pass of a training step, in order."""
    for layer, phase in layer_passes(network):
        yield bitstream_of(network, layer, phase, **choice), layer


def top_of(bitstream: Bitstream) -> Top:
    """The block of a bitstream, with signals of its own."""
    if bitstream.phase == "fp":
        return forward_top(bitstream.forward)
    if bitstream.phase == "dp":
        return delta_top(bitstream.delta)
    design, undone = bitstream.update
    return kernel_update_top(design, undone=undone)
