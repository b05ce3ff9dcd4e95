"""Training steps on a board with the MAC array: the host rings once per step.

The array computes the loss. The host writes images and classes; every other operand stays in
memory, where an earlier pass wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from merp.cosim.board.driver import Device
from merp.cosim.machines.mac_array.phases.array_phase import usual_rates
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.step_plan import board_phases, step_plan
from merp.cosim.machines.mac_array.stored import stored_images, stored_parameters
from merp.cosim.machines.mac_array.training import ArrayStepped, step_passes, stepped
from merp.cosim.machines.training.board_run import BoardRun
from merp.cosim.phases.audit.audit import Audit
from merp.models.arithmetic.fixed import Words
from merp.models.base.errors import BadInput
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
from merp.models.machines.mac_array.params.design import LOSSES
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
        begin, progress, device: as in ``BoardRun``. ``begin`` is called with each pass, too.

    Attributes:
        seconds: time of all steps so far: ``building`` the hardware, ``simulating`` it.
        on_board: for the answer: rings of the host per step, and where deltas are stored.
        bus: traffic on the memory bus in all steps so far, by list.

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
        device: Device | None = None,
    ) -> None:
        if loss not in LOSSES:
            raise BadInput(
                f"{mention('loss', loss)}: a host computes its deltas: allowed on the array are "
                f"{', '.join(LOSSES)}"
            )
        self._network = network = replace(network, backward=SEPARATE)
        self._loss, self._begin = loss, begin
        self._phases = board_phases(network, loss, momentum=momentum)
        design = self._phases["fp"].design
        self._memory = StepMemory(network, design, images, loss)
        plan = step_plan(self._phases, self._memory, usual_rates(design, images))
        self._run = BoardRun(plan, begin, progress, device)
        self.seconds, self.bus = self._run.seconds, self._run.bus

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
        self._run.hold(model, stored_parameters(step, self._memory.design, new=False))
        self._run.put(IMAGES, stored_images(step, self._memory.design))
        self._run.put(TARGETS, labels.astype(np.uint32))
        (name,) = plan.lists
        played = self._run.play(plan, name)
        audits: dict[tuple[str, str], list[Audit]] = {}
        order = board_order(self._network)
        played.audit(step_passes(step, self._phases, order, self._begin, audits))
        played.end()
        done = stepped(step, labels, audits)
        self._run.check_held(done.model, stored_parameters(step, self._memory.design, new=True))
        return done
