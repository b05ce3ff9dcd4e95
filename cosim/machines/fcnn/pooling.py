"""Activation and pooling, and their derivatives, on the modules of pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.fcnn.module import Module
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.expectation import GroupPass
from merp.hdl.fcnn.fcnn_pool import FcnnPoolPorts, fcnn_pool
from merp.hdl.fcnn.fcnn_unpool import FcnnUnpoolPorts, fcnn_unpool
from merp.models.base.bits import Bits
from merp.models.golden.inference import forward_layer, own_maps
from merp.models.golden.state import State
from merp.models.machines.fcnn.activated_pool import activated_pool
from merp.models.machines.fcnn.params.pool_design import PoolDesign, PoolRun
from merp.models.machines.fcnn.params.pool_registers import (
    POOL,
    POOL_COUNTERS,
    POOL_WORDS,
    UNPOOL,
    UNPOOL_WORDS,
)
from merp.models.machines.fcnn.words import pool_run
from merp.models.network.network import Layer, Network
from merp.testbenches.top.top import Top


class _Pooling(Module):
    """A module of either direction."""

    counters = POOL_COUNTERS

    @property
    def pooling(self) -> PoolDesign:
        """The parameters of the module."""
        assert self.design.pooling is not None
        return self.design.pooling

    def run(self, layer: Layer, images: int) -> PoolRun:
        """Return the run of a group of a layer."""
        return pool_run(self.design, layer.shape, images)

    def in_order(self, maps: Bits) -> Bits:
        """Return maps (images, rows, columns, maps) in stream order: map, row, column, image."""
        return np.ascontiguousarray(maps.transpose(3, 1, 2, 0)).reshape(-1)

    def maps_of(
        self, records: Sequence[RunRecord], stream: str, size: tuple[int, int, int]
    ) -> Bits:
        """Return maps (images, rows, columns, all maps) of the words of a stream.

        size: images, rows and columns.
        """
        images, rows, columns = size
        found = [record.words(stream).reshape(-1, rows, columns, images) for record in records]
        return np.ascontiguousarray(np.concatenate(found).transpose(3, 1, 2, 0))

    def _operations(self, layer: Layer, images: int) -> int:
        """Return 0: there are no multiply-adds."""
        return 0


class Pooling(_Pooling):
    """Activation and pooling of the sums of a layer."""

    name = "pool"
    streams = POOL_WORDS
    table = POOL
    last = ("map_out", "map_in")

    def top(self, array: str = "rtl") -> Top:
        """Return the block with its own signals."""
        return self._top(fcnn_pool, FcnnPoolPorts(self.pooling), self.pooling, array)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the value of every register."""
        return POOL.values(self.run(layer, images))

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Return the run of a group, on the sums of the step."""
        sums = own_maps(sums_of(self.network, layer, step), layer, group)
        left = {"map_out": self.in_order(own_maps(step.y(layer), layer, group))}
        if self.pooling.keeps_state:
            left["state_out"] = self.in_order(activated_pool(sums, self.pooling)[1])
        return self._pass(layer, len(sums), {"map_in": self.in_order(sums)}, left)

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits:
        """Return the output maps."""
        size = images, layer.shape.pooled_rows, layer.shape.pooled_columns
        return self.maps_of(records, self.streams["map_out"], size)

    def results(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> dict[str, Bits]:
        """Return the output maps, and the bytes of state if the module has them."""
        found = {"y": self.outputs(layer, images, records)}
        if self.pooling.keeps_state:
            size = images, layer.shape.pooled_rows, layer.shape.pooled_columns
            found["state"] = self.maps_of(records, self.streams["state_out"], size)
        return found

    def store(self, layer: Layer, records: Sequence[RunRecord], step: StepSoFar) -> None:
        """Store the maps, and the state for un-pooling."""
        images = len(step.images)
        step.outputs[layer.name] = self.outputs(layer, images, records)
        step.states[layer.name] = self._state(layer, images, records)

    def _state(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> State:
        """Return the state that un-pooling needs, of the bytes and maps that the module gave."""
        design, shape = self.pooling, layer.shape
        mask = position = None
        if design.keeps_state:
            size = images, shape.pooled_rows, shape.pooled_columns
            found = self.maps_of(records, self.streams["state_out"], size)
            mask = (found & 1).astype(np.bool_) if shape.relu else None
            position = found >> np.uint32(1) if design.pools else None
        output = self.outputs(layer, images, records) if design.keeps_map else None
        return State(kind="pooled", mask=mask, position=position, output=output)


class Unpooling(_Pooling):
    """The deltas of the sums of a layer, from those of its output."""

    name = "unpool"
    streams = UNPOOL_WORDS
    table = UNPOOL
    last = ("delta_out",)

    def top(self, array: str = "rtl") -> Top:
        """Return the block with its own signals."""
        return self._top(fcnn_unpool, FcnnUnpoolPorts(self.pooling), self.pooling, array)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the value of every register."""
        return UNPOOL.values(self.run(layer, images))

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Return the run of a group, on the deltas and the state of the step."""
        passed = step.passed(layer)
        sent = {"delta_in": self.in_order(own_maps(passed.delta, layer, group))}
        if self.pooling.keeps_state:
            state = state_bytes(step.state(layer))
            sent["state_in"] = self.in_order(own_maps(state, layer, group))
        if self.pooling.keeps_map:
            sent["map_in"] = self.in_order(own_maps(step.state(layer).output, layer, group))
        left = {"delta_out": self.in_order(own_maps(passed.sums, layer, group))}
        return self._pass(layer, len(passed.delta), sent, left)

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> None:
        """Return None: a delta is not an input of the next layer."""

    def results(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> dict[str, Bits]:
        """Return the deltas of the sums."""
        size = images, layer.shape.out_rows, layer.shape.out_columns
        return {"delta": self.maps_of(records, self.streams["delta_out"], size)}

    def store(self, layer: Layer, records: Sequence[RunRecord], step: StepSoFar) -> None:
        """Store the deltas of the sums."""
        size = len(step.images), layer.shape.out_rows, layer.shape.out_columns
        step.deltas[layer.name] = self.maps_of(records, self.streams["delta_out"], size)


def state_bytes(state: State) -> Bits:
    """Return the bytes of a mask: ReLU's in bit 0, which is 1 without ReLU, and the position above.

    They are (images, pooled rows, pooled columns, maps) words.
    """
    assert state.mask is not None or state.position is not None
    position = np.zeros(1, np.uint32) if state.position is None else state.position
    mask = np.ones(1, np.uint32) if state.mask is None else state.mask.astype(np.uint32)
    return np.left_shift(position, 1, dtype=np.uint32) | mask


def sums_of(network: Network, layer: Layer, step: Any) -> Bits:
    """Return the sums of a layer: those of the hardware, if the step has them, else golden ones."""
    known = getattr(step, "sums", None)
    if known is not None:
        found: Bits = known(layer)
        return found
    plain = replace(layer.shape, relu=False, tanh=False, pool=None)
    kernels, biases = step.parameters[layer.name]
    return forward_layer(
        replace(layer, shape=plain),
        step.x(layer),
        kernels,
        biases,
        network.fmt,
        network.summation(layer),
    )
