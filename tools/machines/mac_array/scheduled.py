"""A training step on the MAC array with one start, for ``merp simulate --schedule``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.mac_array.phases.built import check_array
from merp.cosim.machines.mac_array.phases.scheduled_step import ScheduledStep, scheduled_step
from merp.cosim.phases.audit.audit import COUNTS, Audit
from merp.cosim.phases.audit.scheduled import audit_scheduled
from merp.models.base.errors import BadInput
from merp.models.base.given import given, name_of
from merp.models.machines.mac_array.fixed_training import Pairs
from merp.models.machines.mac_array.params.design import LOSSES, USUAL_LOSS, ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import schedule_layout
from merp.models.machines.mac_array.passes import design_of
from merp.models.machines.mac_array.schedule_cycles import cycles_between
from merp.models.network.network import Network
from merp.testbenches.mac_array.scheduled_bench import scheduled_top
from merp.tools.common.progress import Progress
from merp.tools.common.table import console
from merp.tools.machines.mac_array.choose import choose_array
from merp.tools.machines.mac_array.simulated import MAC_ARRAY
from merp.tools.simulate.choice import RunOptions, SimulationChoice
from merp.tools.simulate.kept_files import KeptFiles
from merp.tools.simulate.picked import ALL, check_room, pick
from merp.tools.simulate.report import audit_answer, time_taken, verdict, words_table
from merp.tools.simulate.request import SimulateOptions
from merp.tools.simulate.simulated import Words


@dataclass(frozen=True)
class Scheduled:
    """Results of a run.

    Attributes:
        choice: the simulated network and options.
        loss: the loss.
        step: the run.
        cycles: cycles of the run, on the pins.
        audit: audit of all passes together.
        build_seconds: time of the hardware's build.
    """

    choice: SimulationChoice
    loss: str
    step: ScheduledStep
    audit: Audit
    cycles: int
    build_seconds: float

    @property
    def design(self) -> ArrayDesign:
        """The array."""
        return design_of(self.choice.network, self.choice.network.layers[0])

    @property
    def passed(self) -> bool:
        """Whether every check succeeded."""
        return self.audit.passed

    def answer(self, *, everything: bool) -> dict[str, Any]:
        """Return the complete answer, for every request."""
        return answer(self)

    def files(self, answer: dict[str, Any]) -> dict[str, str]:
        """Return no files."""
        return {}

    def show(self, *, details: bool) -> None:
        """Print the tables, which fit one screen."""
        show(self)


@dataclass(frozen=True)
class Start:
    """A selected step, and its loss."""

    choice: SimulationChoice
    loss: str
    plan = ""

    @property
    def engine(self) -> str:
        """The engine that runs the step."""
        return self.choice.engine

    def maps(self, photograph: Path | None) -> Words:
        """Return the input maps: the words of the photograph, or random words."""
        return MAC_ARRAY.input_maps(self.choice.network, self.choice.images, photograph)

    def parameters(self, seed: int, path: Path | None) -> Pairs:
        """Return initial parameters from the seed."""
        return MAC_ARRAY.parameters(self.choice.network, seed, path)

    def finished(
        self, maps: Words, seed: int, sources: Mapping[str, bytes], kept: Callable[[str], KeptFiles]
    ) -> None:
        """Return None, because a run with one start has no units to save."""

    def run(
        self, maps: Words, parameters: Any, finished: None, waves: None, progress: Progress
    ) -> Scheduled:
        """Run the step, and audit it.

        Raises:
            BadInput: there are too many passes, or a simulator is not installed.
            Stuck: no word moved for too long.
        """
        choice = self.choice
        progress.begin(f"{choice.images} image(s)")
        golden = MAC_ARRAY.step(choice, maps, parameters, self.loss)
        with progress.spent.on("golden"):
            try:
                step = scheduled_step(golden, self.loss, fused=choice.before)
            except ValueError as error:
                raise BadInput(f"{choice.network.name}: {error}") from error
        top = scheduled_top(design_of(choice.network, choice.layers[0]), choice.array)
        progress.expect(step.cycles)
        with progress.spent.on("simulating"):
            (record,) = run_job(Job(top, [step.run]), choice.engine, progress.update)
        progress.spent.recount("simulating", "building", record.build_seconds)
        found = audit_scheduled(record, step.expected, step.cycles)
        seconds = record.build_seconds
        return Scheduled(choice, self.loss, step, found, record.outcome.cycles, seconds)


def one_start(
    network: Network, asked: SimulateOptions, read: Callable[..., object]
) -> tuple[Start, None]:
    """Return all passes of a step, which run from one start, and None: the user can give no maps.

    Raises:
        BadInput: the network is on no array, or on several, or the array does not compute the
            deltas of the loss. A host would have to compute them between two passes.
    """
    if asked.layer not in (None, ALL) or asked.phase not in (None, ALL):
        raise BadInput(f"{name_of('schedule')}: allowed with all layers and phases")
    loss = asked.loss or USUAL_LOSS
    if loss not in LOSSES:
        raise BadInput(
            f"{given('loss', loss)}: a host computes its deltas between passes, which one start "
            f"does not allow: allowed with {name_of('schedule')}: {', '.join(LOSSES)}"
        )
    options = RunOptions(
        phase=ALL, images=asked.images or 1, engine=asked.engine, cu_array=asked.cu_array,
        delta_at=asked.delta_at,
    )  # fmt: skip
    choice = choose_array(pick(network, ALL, None, None), options)
    check_array(choice.network)
    if not design_of(choice.network, choice.layers[0]).loss:
        raise BadInput(
            f"{name_of('schedule')}: {network.name}: allowed with a design of loss = true"
        )
    check_room(choice)
    return Start(choice, loss), None


def answer(found: Scheduled) -> dict[str, Any]:
    """Return the machine-readable answer."""
    choice, step = found.choice, found.step
    return {
        "network": choice.network.name,
        "engine": choice.engine,
        "cu_array": choice.array,
        "images": choice.images,
        "loss": found.loss,
        "schedule": {
            "passes": step.passes,
            "words": schedule_layout(found.design).words,
            "cycles": found.cycles,
            "of_passes": step.of_passes,
            "between_passes": cycles_between(found.design),
        },
        "operations": found.audit.operations,
        **audit_answer(found.audit),
        "build_seconds": round(found.build_seconds, 3),
    }


def show(found: Scheduled, screen: Console | None = None) -> None:
    """Print the bits, the cycles, and the words by port and way of counting."""
    screen = screen or console()
    choice, step, design = found.choice, found.step, found.design
    words = schedule_layout(design).words
    passes = choice.images * step.passes
    screen.print(
        f"{choice.network.name}, {choice.images} image(s) with one start: {passes} passes, loss "
        f"{found.loss}, {design.pox}x{design.poy} pixels of {design.pof} maps in parallel, engine "
        f"{choice.engine}, MAC array {choice.array}",
        style="bold",
    )
    screen.print(words_table(found.audit, COUNTS))
    screen.print(f"bits      {verdict(found.audit)}")
    rest = found.cycles - step.of_passes - passes * cycles_between(design)
    screen.print(
        f"cycles    {found.cycles:,} = passes {step.of_passes:,} + {passes} times "
        f"{cycles_between(design)} ({words} words of a pass) + {rest:,} for loading and the end"
    )
    screen.print(
        f"time      {time_taken(found.audit)}, after {found.build_seconds:.1f} s of building"
    )
    for failure in found.audit.failures:
        screen.print(f"FAILED    {failure}", style="bold red")
