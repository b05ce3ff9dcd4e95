"""Lists of training steps on a board: build the board, play lists, and audit every pass."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from merp.cosim.board.accelerator import Accelerator
from merp.cosim.board.bitstreams import DividedStep, divided_step
from merp.cosim.board.dram import Dram
from merp.cosim.board.driver import Device, PortedDevice
from merp.cosim.board.play import PlayedPass
from merp.cosim.board.step_file import bitstreams_of
from merp.cosim.board.step_lists import check_step
from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.cosim.phases.audit.audit import audit
from merp.cosim.phases.audit.run_and_audit import Audited, without_cycles
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.base.errors import CheckFailed
from merp.models.memory.bus_record import BusRecord, add_to
from merp.testbenches.top.player import Progress

Result = TypeVar("Result")


class StoredArray(NamedTuple):
    """The words of an array in memory.

    Attributes:
        name: the array.
        words: all of its words, in order.
        meant: the words that count; None: all. The others may have any value.
    """

    name: str
    words: Bits
    meant: NDArray[np.bool_] | None = None


class BoardRun:
    """The board of consecutive steps.

    Args:
        plan: a plan of the steps. Later plans may differ in the settings of passes.
        begin: called with the name of the next list.
        progress: called with the cycles of a list and the words that it moved.
        device: as in ``Accelerator``.

    Attributes:
        rings: rings of the host per step.
        seconds: time of all steps so far: ``building`` the hardware, ``simulating`` it.
        bus: traffic on the memory bus so far, by list.

    Raises:
        BadInput: an accelerator cannot run the plan, or the bitstreams of the device are those of
            another step.
    """

    def __init__(
        self,
        plan: StepPlan,
        begin: Callable[[str], object] | None = None,
        progress: Progress | None = None,
        device: Device | None = None,
    ) -> None:
        self._bitstreams = bitstreams_of(device, plan.tops)
        self._step = self._divided(plan)
        self._dram = _stated_memory(device)
        check_step(self._step, self._dram)
        self.rings = len(self._step.whole.lists)
        self._begin, self._progress, self._device = begin, progress, device
        self._accelerator: Accelerator | None = None
        self._held: object = None  # the model in memory
        self.seconds = {"building": 0.0, "simulating": 0.0}
        self.bus: dict[str, BusRecord] = {}

    @property
    def _built(self) -> Accelerator:
        if self._accelerator is None:
            began = perf_counter()
            self._accelerator = Accelerator(self._step, self._device, self._dram)
            self.seconds["building"] += perf_counter() - began
        return self._accelerator

    def _divided(self, plan: StepPlan) -> DividedStep:
        return divided_step(plan, self._bitstreams)

    def put(self, name: str, words: Bits) -> None:
        """Write an array, as a host does."""
        self._built.arrays.put(name, words)

    def hold(self, model: object, arrays: Iterable[StoredArray]) -> None:
        """Write the arrays of a model, if memory does not hold this model already."""
        if self._held is not model:
            for each in arrays:
                self.put(each.name, each.words)
        self._held = None  # until the step has ended

    def check_held(self, model: object, arrays: Iterable[StoredArray]) -> None:
        """Check that memory holds the arrays of a model, and remember the model.

        Raises:
            CheckFailed: an array differs.
        """
        for name, words, meant in arrays:
            found = self._built.arrays.get(name).reshape(-1)
            own = slice(None) if meant is None else meant
            if not np.array_equal(found[own], words.reshape(-1)[own]):
                raise CheckFailed(f"{name}: memory does not hold the model after the step")
        self._held = model

    def play(self, plan: StepPlan, name: str) -> PlayedPasses:
        """Play a list of a plan, and return its passes, which are not audited yet.

        With several bitstreams, the list has a part for each of its stays on a bitstream.
        """
        step = self._divided(plan)
        passes: list[PlayedPass] = []
        for part in step.lists[name]:
            passes += self._play(step, part)
        return PlayedPasses(self._built, zip(plan.lists[name], passes, strict=True))

    def _play(self, step: DividedStep, name: str) -> Sequence[PlayedPass]:
        if self._begin is not None:
            self._begin(name)
        accelerator, began = self._built, perf_counter()
        played = accelerator.play(step, name)
        self.seconds["simulating"] += perf_counter() - began
        add_to(self.bus, name, played.record)
        if self._progress is not None:
            moves: list[Mapping[str, int]] = [each.crossed for each in played.passes]
            self._progress(played.cycles, sum(sum(each.values()) for each in moves))
        return played.passes


def _stated_memory(device: Device | None) -> Dram | None:
    """Return the memory behind the port that a device states; None if it states none."""
    bits = device.port_bits if isinstance(device, PortedDevice) else None
    return None if bits is None else Dram.with_port(bits)


class PlayedPasses:
    """The passes of a list that was played, in their order. Each must be audited."""

    def __init__(
        self, accelerator: Accelerator, passes: Iterator[tuple[PlannedPass, PlayedPass]]
    ) -> None:
        """``passes`` are those of ``accelerator``."""
        self._accelerator, self._passes = accelerator, passes

    def audit(self, expected: Generator[GroupPass, Audited | None, Result]) -> Result:
        """Audit the next passes, those that ``expected`` yields, and return its result.

        Raises:
            CheckFailed: the list has no further pass, or a pass with other settings.
        """
        found: Audited | None = None
        while True:
            try:
                wanted = expected.send(found)
            except StopIteration as ended:
                result: Result = ended.value
                return result
            each, played = next(self._passes, (None, None))
            if each is None or played is None:
                raise CheckFailed("a pass of the step is missing in its list")
            if wanted.run.config != each.config:
                raise CheckFailed(f"{each}: settings of the list are wrong")
            record = self._accelerator.record(each, played)
            found = Audited(record, audit(record, without_cycles(wanted.expected)))

    def end(self) -> None:
        """Check that every pass was audited.

        Raises:
            CheckFailed: a pass was not.
        """
        each, _ = next(self._passes, (None, None))
        if each is not None:
            raise CheckFailed(f"{each}: nothing is expected of this pass of a list")
