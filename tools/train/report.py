"""The output of ``merp train``: the answer and the loss curve."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from merp.cosim.machines.loader import optional_part
from merp.cosim.machines.training.hardware_step import Audits, WholeStep
from merp.models.base.file_format import TRAINING, numbered
from merp.models.network.machine import Machine
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED, json_backward
from merp.models.network.phases import apart, known_phases, phases_counted
from merp.models.traffic.bytes import bytes_of
from merp.tools.common.bus_lines import bus_lines
from merp.tools.common.table import console, fixed, table
from merp.tools.train.arithmetic import Stepped, arithmetic_of
from merp.tools.train.checkpoint import Checkpoint
from merp.tools.train.counts import PhaseCounts, by_phase
from merp.tools.train.course import Course
from merp.tools.train.data import Split
from merp.tools.train.history import History
from merp.tools.train.in_passes import InPasses
from merp.tools.train.loss_chart import draw
from merp.tools.train.names import ON_CHIP, step_size
from merp.tools.train.trained import Shown


def answer(
    course: Course,
    done: Checkpoint,
    data: Split,
    accuracy: float,
    plan: InPasses | None,
    last: Stepped | None,
) -> dict[str, Any]:
    """Return the answer for programs.

    ``bytes`` and ``cycles`` belong to one step, by phase. Bytes are given by count from the closed
    form, from the plan's closed form, and as measured on the ports. Measured values are None if no
    hardware ran in the ``last`` step. With a plan, ``runs`` has the same by port, for each layer
    and phase.
    """
    audits: Audits = {} if last is None else last.audits
    network, state = course.network, course.state
    arithmetic = arithmetic_of(network)
    paper, full = (
        {
            phase: done.accumulate * size
            for phase, size in arithmetic.step_bytes(done.batch, count, state).items()
        }
        for count in ("maps", "all")
    )
    del paper["momentum"]
    if not course.rule.momentum:
        full["momentum"] = 0
    counts = by_phase(audits, network, bytes_of(network).velocities) if audits else {}
    counted = {"paper": paper, "full": full, "measured": _measured(counts)}
    planned: dict[str, Any] = {}
    if plan is not None:
        counted["plan"] = _planned(network, plan.bytes(course.rule))
        planned = {
            "board": plan.board,
            "for": plan.goal,
            "apart": course.target is not None and course.target.apart,
            "runs": plan.runs(course.rule, audits),
        }
    told = partial(apart, network) if plan is None else plan.apart
    cycles = _cycles(network, counts, None if last is None else last.whole)
    made = {
        "network": network.name,
        "engine": course.engine,
        "steps": done.step,
        "batch": done.batch,
        "accumulate": done.accumulate,
        "seed": done.seed,
        "loss": list(done.loss),
        "accuracy": accuracy,
        "images": {"trained": len(data.images), "held_out": len(data.held_images)},
        "state_bits": state,
        "backward": json_backward(network.backward),
        "not_in_one_pass": list(told(network.layers)),
        "bytes": counted,
        "cycles": cycles,
        **planned,
    }
    return numbered(made, TRAINING)


def _planned(network: Network, moved: Mapping[str, int]) -> dict[str, int]:
    """Return the bytes of a step by the plan's closed form."""
    phases = {phase: moved.get(phase, 0) for phase in phases_counted(network)}
    return _with_step(phases) | {"momentum": moved["momentum"]}


def _measured(counts: Mapping[str, PhaseCounts]) -> dict[str, dict[str, int]] | None:
    """Return the bytes on the ports: those of count ``maps``, and all."""
    if not counts:
        return None
    momentum = sum(each.velocities for each in counts.values())
    return {
        "paper": _with_step({phase: each.maps for phase, each in counts.items()}),
        "full": _with_step({phase: each.bytes for phase, each in counts.items()})
        | {"momentum": momentum},
    }


def _cycles(
    network: Network, counts: Mapping[str, PhaseCounts], whole: WholeStep | None
) -> dict[str, dict[str, int] | None]:
    """Return the cycles of the passes, and the cycles of earlier kernel loading.

    Phases that ran concurrently have no cycles of their own; the step's cycles then include the
    loading.
    """
    if not counts or whole is not None:
        none: dict[str, dict[str, int] | None] = dict.fromkeys((*phases_counted(network), "step"))
        if whole is not None:
            none["step"] = {"total": whole.cycles, "kernel_load": 0}
        return none
    total = _with_step({phase: each.cycles for phase, each in counts.items()})
    load = _with_step({phase: each.kernel_load for phase, each in counts.items()})
    return {key: {"total": total[key], "kernel_load": load[key]} for key in total}


def _with_step(phases: dict[str, int]) -> dict[str, int]:
    return phases | {"step": sum(phases.values())}


def files(answer: Mapping[str, Any], history: History) -> dict[str, str | bytes]:
    """Return ``train.json``, ``history.json`` and the loss curve ``loss.png``."""
    return {
        "train.json": json.dumps(answer, indent=2) + "\n",
        "history.json": json.dumps(numbered(history.json(), TRAINING), indent=2) + "\n",
        "loss.png": picture(answer),
    }


def picture(answer: Mapping[str, Any]) -> bytes:
    """Return the loss curve as PNG."""
    return draw({answer["network"]: answer}, _title(answer), ".png")


def _title(answer: Mapping[str, Any]) -> str:
    return (
        f"{answer['network']}, engine {answer['engine']}: "
        f"{answer['accuracy']:.1%} of {answer['images']['held_out']} held-out images right"
    )


def show(answer: Mapping[str, Any], machine: Machine, *, details: bool) -> None:
    """Print losses, accuracy and the bytes of a step.

    Args:
        answer: for programs.
        machine: the machine that ran, which may add tables.
        details: print the traffic of maps alone, too.
    """
    screen, added = console(), optional_part(machine, "trained", Shown())
    loss = answer["loss"]
    losses = f"loss {loss[0]:.4f} to {loss[-1]:.4f}" if loss else "no step"
    where = f" on {answer['board']}" if "board" in answer else ""
    screen.print(
        f"{answer['network']}{where}, engine {answer['engine']}: {answer['steps']:,} steps of "
        f"{step_size(answer['batch'], answer['accumulate'])} images, {losses}"
    )
    screen.print(
        f"accuracy {answer['accuracy']:.2%} of {answer['images']['held_out']:,} held-out images"
    )
    for line in answer["not_in_one_pass"]:
        screen.print(f"Not in one pass: {line}")
    counted = answer["bytes"]
    counts, columns = [counted["full"]], ["phase", "count all"]
    state = "on the chip" if answer["state_bits"] == ON_CHIP else f"of {answer['state_bits']}"
    caption = f"From the closed form, state {state}; velocities, apart: "
    caption += f"{fixed(counted['full']['momentum'] / 1e6, 3)} MB."
    if "plan" in counted:
        counts, columns = [counted["plan"]], ["phase", "plan"]
    if measured := counted["measured"]:
        counts.append(measured["full"])
        columns += ["on the ports", "cycles"]
        caption += f" {added.on_ports or _on_ports(answer)}"
    rows = []
    for phase in (each for each in (*known_phases(), "step") if each in counted["full"]):
        row = ["total" if phase == "step" else phase]
        row += [fixed(each[phase] / 1e6, 3) for each in counts]
        if cycles := answer["cycles"][phase]:
            row.append(f"{cycles['total']:,} + {cycles['kernel_load']:,}")
        elif measured:
            row.append("-")
        rows.append(row)
    screen.print(table("Traffic of one step, MB", columns, rows, totals=1, caption=caption))
    if "bus" in answer:
        for line in bus_lines(answer["bus"]["total"]):
            screen.print(line)
    if details:
        maps = counted["paper"]
        rows = [
            ["total" if phase == "step" else phase, fixed(maps[phase] / 1e6, 3)]
            for phase in (*known_phases(), "step")
            if phase in maps
        ]
        screen.print(
            table("Traffic of maps and deltas, MB", ["phase", "count maps"], rows, totals=1)
        )
    for each in added.tables(answer):
        screen.print(each)


def _on_ports(answer: Mapping[str, Any]) -> str:
    """Return the caption on ports and cycles if layers and phases run one after the other."""
    pooled = answer["backward"] == json_backward(COMBINED) or answer.get("delta_at") == "pooled"
    at = "pooled" if pooled else "full"
    ports = f"On the ports deltas are at {at} resolution."
    if "plan" in answer["bytes"]:
        ports = "Every port of every layer moved the plan's bytes."
    if "reason" in answer:
        ports = f"{ports} The host rings once per pass: {answer['reason']}."
    return f"{ports} Cycles: of the passes + of loading."
