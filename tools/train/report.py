"""What ``merp train`` shows: the answer, the loss curve."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from merp.cosim.passes.of_plan import OfPlan
from merp.cosim.training.hardware_step import Audits
from merp.models.network.network import Network
from merp.models.network.network_keys import FUSED
from merp.models.network.phases import NAMED, PHASES, apart, phases_counted
from merp.models.params.rates import PLAIN
from merp.models.plan.plan import Plan
from merp.tools.common.table import console, fixed, table
from merp.tools.train.arithmetic import arithmetic_of
from merp.tools.train.checkpoint import Checkpoint
from merp.tools.train.counts import PhaseCounts, by_phase
from merp.tools.train.course import ON_CHIP, Course
from merp.tools.train.data import Split
from merp.tools.train.loss_chart import draw
from merp.tools.train.saturated import show_saturated


def answer(
    course: Course, done: Checkpoint, data: Split, plan: Plan | None, audits: Audits
) -> dict[str, Any]:
    """Return the answer for machines.

    ``bytes`` and ``cycles`` are those of one step, by phase: bytes from the closed form by footing,
    of a plan from that of its passes, and as measured on the ports. What is measured is None where
    no hardware ran (no ``audits``). With a plan ``runs`` has the same by port, of each layer and
    phase.
    """
    network, state = course.network, course.state
    arithmetic = arithmetic_of(network)
    found = arithmetic.classify(data.held_images, done.model.parameters)
    paper = dict(arithmetic.step_bytes(done.batch, "paper", state))
    full = dict(arithmetic.step_bytes(done.batch, "full", state))
    del paper["momentum"]
    if not course.rule.momentum:
        full["momentum"] = 0
    counts = by_phase(audits, network) if audits else {}
    counted = {"paper": paper, "full": full, "measured": _measured(counts)}
    planned: dict[str, Any] = {}
    if plan is not None:
        passes = [
            OfPlan(each, course.rule if each.work.phase == "ku" else PLAIN) for each in plan.layers
        ]
        counted["plan"] = _planned(passes)
        planned = {
            "board": plan.board.name,
            "for": plan.goal,
            "apart": course.target is not None and course.target.apart,
            "runs": [_run(each, audits) for each in passes],
        }
    return {
        "network": network.name,
        "engine": course.engine,
        "steps": done.step,
        "batch": done.batch,
        "seed": done.seed,
        "loss": list(done.loss),
        "accuracy": float((found == data.held_labels).mean()),
        "images": {"trained": len(data.images), "held_out": len(data.held_images)},
        "state_bits": state,
        "backward": network.backward,
        "not_in_one_pass": list(apart(network, network.layers)),
        "bytes": counted,
        "cycles": _cycles(network, counts),
        **planned,
    }


def _planned(passes: Sequence[OfPlan]) -> dict[str, int]:
    """Bytes of a step by the plan's closed form."""
    total = dict.fromkeys(PHASES, 0)
    for each in passes:
        total[each.planned.work.phase] += each.planned.bytes
    moved = sum(sum(each.ports.values()) for each in passes)
    return _with_step(total) | {"momentum": moved - sum(total.values())}


def _run(of: OfPlan, audits: Audits) -> dict[str, Any]:
    """A layer and phase: its passes, and bytes of each port by the plan and on the pins."""
    planned = of.planned
    layer, phase = planned.work.layer.name, planned.work.phase
    audit = audits.get((layer, phase))
    return {
        "layer": layer,
        "phase": phase,
        "input_parts": planned.in_parts,
        "output_parts": planned.out_parts,
        "passes": planned.passes,
        "bytes": {
            port: {
                "plan": count,
                "pins": None if audit is None else audit.moved.get(port, 0),
                "measured": audit is not None,  # a step in which they differ has no answer
            }
            for port, count in of.ports.items()
        },
    }


def _measured(counts: Mapping[str, PhaseCounts]) -> dict[str, dict[str, int]] | None:
    """Bytes on the ports: those that footing ``paper`` counts, and all."""
    if not counts:
        return None
    momentum = sum(each.velocities for each in counts.values())
    return {
        "paper": _with_step({phase: each.maps for phase, each in counts.items()}),
        "full": _with_step({phase: each.bytes for phase, each in counts.items()})
        | {"momentum": momentum},
    }


def _cycles(
    network: Network, counts: Mapping[str, PhaseCounts]
) -> dict[str, dict[str, int] | None]:
    """Cycles of the passes, and those in which kernels were loaded before."""
    if not counts:
        return dict.fromkeys((*phases_counted(network), "step"))
    total = _with_step({phase: each.cycles for phase, each in counts.items()})
    load = _with_step({phase: each.kernel_load for phase, each in counts.items()})
    return {key: {"total": total[key], "kernel_load": load[key]} for key in total}


def _with_step(phases: dict[str, int]) -> dict[str, int]:
    return phases | {"step": sum(phases.values())}


def files(answer: Mapping[str, Any]) -> dict[str, str | bytes]:
    """``train.json`` and the loss curve ``loss.png``."""
    return {
        "train.json": json.dumps(answer, indent=2) + "\n",
        "loss.png": picture(answer),
    }


def picture(answer: Mapping[str, Any]) -> bytes:
    """The loss curve, as PNG."""
    return draw({answer["network"]: answer}, _title(answer), ".png")


def _title(answer: Mapping[str, Any]) -> str:
    return (
        f"{answer['network']}, engine {answer['engine']}: "
        f"{answer['accuracy']:.1%} of {answer['images']['held_out']} held-out images right"
    )


def show(answer: Mapping[str, Any]) -> None:
    """Print the answer for people."""
    screen = console()
    loss = answer["loss"]
    losses = f"loss {loss[0]:.4f} to {loss[-1]:.4f}" if loss else "no step"
    where = f" on {answer['board']}" if "board" in answer else ""
    screen.print(
        f"{answer['network']}{where}, engine {answer['engine']}: {answer['steps']:,} steps of "
        f"{answer['batch']} images, {losses}"
    )
    screen.print(
        f"accuracy {answer['accuracy']:.2%} of {answer['images']['held_out']:,} held-out images"
    )
    for line in answer["not_in_one_pass"]:
        screen.print(f"Not in one pass: {line}")
    counted = answer["bytes"]
    footings = [counted["paper"], counted["full"]]
    columns = ["phase", "paper footing", "full footing"]
    state = "on the chip" if answer["state_bits"] == ON_CHIP else f"of {answer['state_bits']}"
    caption = f"From the closed form, state {state}; velocities, apart: "
    caption += f"{fixed(counted['full']['momentum'] / 1e6, 3)} MB."
    if "plan" in counted:
        footings.append(counted["plan"])
        columns.append("plan")
    if measured := counted["measured"]:
        footings.append(measured["full"])
        columns += ["on the ports", "cycles"]
        if "plan" in counted:
            caption += " Every port of every layer moved the plan's bytes."
        else:
            at = "pooled" if answer["backward"] == FUSED else "full"
            caption += f" On the ports deltas are at {at} resolution."
        caption += " Cycles: and those of loading."
    rows = []
    for phase in (each for each in (*NAMED, "step") if each in counted["full"]):
        row = ["total" if phase == "step" else phase]
        row += [fixed(each[phase] / 1e6, 3) for each in footings]
        if cycles := answer["cycles"][phase]:
            row.append(f"{cycles['total']:,} + {cycles['kernel_load']:,}")
        rows.append(row)
    screen.print(table("Traffic of one step, MB", columns, rows, totals=1, caption=caption))
    if "saturated" in answer:
        show_saturated(answer)
