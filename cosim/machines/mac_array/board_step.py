"""Training steps on a board with the MAC array: the host rings once per step.

The array computes the loss. The host writes images and classes; every other operand stays in
memory, where an earlier pass wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from merp.cosim.board.accelerator import Accelerator, BoardOf
from merp.cosim.board.step_plan import StepPlan
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.layout import Sent, beats
from merp.cosim.machines.mac_array.step_plan import board_phases, step_plan
from merp.cosim.machines.mac_array.training import ArrayStepped, step_passes, stepped
from merp.cosim.phases.audit.audit import Audit, audit
from merp.cosim.phases.audit.run_and_audit import Audited, without_cycles
from merp.models.arithmetic.fixed import Words
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.base.given import mention
from merp.models.golden.loss import Labels
from merp.models.machines.mac_array.fixed_golden_step import FixedGoldenStep
from merp.models.machines.mac_array.fixed_training import FixedModel, FixedRates
from merp.models.machines.mac_array.memory.step_memory import (
    IMAGES,
    TARGETS,
    StepMemory,
    board_order,
)
from merp.models.machines.mac_array.orders import forward_kernels
from merp.models.machines.mac_array.params.design import LOSSES, ArrayDesign
from merp.models.machines.mac_array.passes import forward_pass
from merp.models.network.network import Network
from merp.models.network.network_keys import SEPARATE
from merp.testbenches.top.player import Progress


class ArrayBoardStep:
    """Training steps on a simulated board, each with one ring.

    Args:
        network: network in which every layer is on one array.
        images: number of images of a step.
        loss: the loss, one of ``LOSSES`` of the design.
        momentum: whether velocities are built.
        begin: called with the name of the next pass.
        progress: called with the cycles of a step and the words that it moved.
        board_of: as in ``Accelerator``.

    Attributes:
        seconds: time of all steps so far: ``building`` the hardware, ``simulating`` it.
        on_board: for the answer: rings of the host per step, and where deltas are stored.

    Raises:
        BadInput: the array does not compute the loss, or a pass of the network cannot read its
            words from memory.
    """

    on_board: Mapping[str, Any] = MappingProxyType({"rings": 1, "delta_at": "pooled"})

    def __init__(
        self,
        network: Network,
        images: int,
        loss: str,
        *,
        momentum: bool,
        begin: Callable[[str], object],
        progress: Progress | None = None,
        board_of: BoardOf | None = None,
    ) -> None:
        if loss not in LOSSES:
            raise BadInput(
                f"{mention('loss', loss)}: a host computes its deltas: allowed on the array are "
                f"{', '.join(LOSSES)}"
            )
        self._network = network = replace(network, backward=SEPARATE)
        self._loss, self._begin, self._progress = loss, begin, progress
        self._board_of = board_of
        self._phases = board_phases(network, loss, momentum=momentum)
        self._memory = StepMemory(network, self._phases["fp"].design, images, loss)
        self._accelerator: Accelerator | None = None
        self._held: FixedModel | None = None  # the parameters in memory
        self.seconds = {"building": 0.0, "simulating": 0.0}

    def step(
        self,
        model: FixedModel,
        images: Words,
        labels: Labels,
        rates: FixedRates,
        loss_kind: str = "hinge",
    ) -> ArrayStepped:
        """Run one step on a batch of (images, rows, columns, channels) words.

        Raises:
            CheckFailed: a bit, a count or a setting was wrong, or the list failed.
            ValueError: the loss is not the one of the hardware.
        """
        if loss_kind != self._loss:
            raise ValueError(f"loss must be {self._loss}, not {loss_kind}")
        step = ArrayStep(FixedGoldenStep(self._network, images, labels, model, rates, loss_kind))
        plan = step_plan(self._phases, self._memory, rates)
        accelerator = self._built(plan)
        self._put(accelerator, step, images, labels)
        done = stepped(step, labels, self._play(accelerator, plan, step))
        self._check(accelerator, step)
        self._held = done.model
        return done

    def _built(self, plan: StepPlan) -> Accelerator:
        if self._accelerator is None:
            began = perf_counter()
            self._accelerator = Accelerator(plan, self._board_of)
            self.seconds["building"] += perf_counter() - began
        return self._accelerator

    def _put(
        self, accelerator: Accelerator, step: ArrayStep, images: Words, labels: Labels
    ) -> None:
        """Write images and classes, and the parameters if memory does not hold them already."""
        arrays, first = accelerator.arrays, self._network.layers[0]
        maps = [step.input_of(first, image)[0] for image in range(len(images))]
        stored = [_stored(each, self._memory.design) for each in maps]
        arrays.put(IMAGES, np.concatenate(stored))
        arrays.put(TARGETS, labels.astype(np.uint32))
        if self._held is not step.golden.model:
            for name, sent in self._parameters(step, old=True):
                arrays.put(name, sent.words)
        self._held = None  # until the step has ended

    def _parameters(self, step: ArrayStep, *, old: bool) -> Iterator[tuple[str, Sent]]:
        """Yield the arrays of parameters, and of velocities with momentum, before or after."""
        noise, design = np.random.default_rng(1), self._memory.design
        for layer in self._network.layers:
            work = forward_pass(self._network, layer)
            pairs = dict(zip(("parameters", "velocities"), step.golden.before(layer), strict=True))
            if not old:
                pairs = {"parameters": step.new[layer.name]}
                if design.momentum:
                    pairs["velocities"] = step.moving[layer.name]
            for array, pair in pairs.items():
                if array == "parameters" or design.momentum:
                    name = f"{layer.name}.{array}"
                    yield name, beats(pair, forward_kernels, work, design, noise)

    def _check(self, accelerator: Accelerator, step: ArrayStep) -> None:
        """Check that memory holds the parameters after the step.

        Raises:
            CheckFailed: an array differs.
        """
        for name, sent in self._parameters(step, old=False):
            found = accelerator.arrays.get(name).reshape(-1)
            if not np.array_equal(found[sent.meant], sent.words[sent.meant]):
                raise CheckFailed(f"{name}: memory does not hold the model after the step")

    def _play(
        self, accelerator: Accelerator, plan: StepPlan, step: ArrayStep
    ) -> dict[tuple[str, str], list[Audit]]:
        """Play all passes of a step, audit them, and store their results."""
        (name,) = plan.lists
        self._begin("all passes")
        began = perf_counter()
        played = accelerator.play(name, plan.lists[name])
        self.seconds["simulating"] += perf_counter() - began
        if self._progress is not None:
            moves = [moved for each in played.passes for moved in each.moves.values()]
            self._progress(played.cycles, sum(moved.words for moved in moves))
        audits: dict[tuple[str, str], list[Audit]] = {}
        order = board_order(self._network)
        passes = step_passes(step, self._phases, order, self._begin, audits)
        found: Audited | None = None
        for each, done in zip(plan.lists[name], played.passes, strict=True):
            expected = passes.send(found)
            if expected.run.config != each.config:
                raise CheckFailed(f"{each}: settings of the list are wrong")
            record = accelerator.record(each, done)
            found = Audited(record, audit(record, without_cycles(expected.expected)))
        with suppress(StopIteration):
            passes.send(found)  # the results of the last pass
        return audits


def _stored(maps: Words, design: ArrayDesign) -> Bits:
    """Return the words of maps (rows, columns, maps) as memory has them; free places are 0."""
    rows, columns, count = maps.shape
    words = np.zeros((count, rows, design.column_blocks(columns) * design.pox), np.uint32)
    words[..., :columns] = maps.view(np.uint16).transpose(2, 0, 1)
    return words.reshape(-1)
