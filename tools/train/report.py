"""What ``merp train`` shows: the answer, the loss curve."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from merp.models.golden.training import classify
from merp.models.network.network import Network
from merp.models.network.phases import PHASES
from merp.models.traffic.closed_form import step_bytes
from merp.models.traffic.footing import Footing
from merp.tools.common.table import console, fixed, table
from merp.tools.train.checkpoint import Checkpoint
from merp.tools.train.data import Split
from merp.tools.train.loss_chart import draw

if TYPE_CHECKING:
    from merp.cosim.audit.training_step import PhaseCounts


def answer(
    network: Network,
    engine: str,
    done: Checkpoint,
    data: Split,
    state: str,
    counts: Mapping[str, PhaseCounts],
    *,
    momentum: bool,
) -> dict[str, Any]:
    """Return the answer for machines.

    ``bytes`` and ``cycles`` are those of one step, by phase: bytes from the closed form by footing,
    and as measured on the ports. What is measured is None where no hardware ran (no ``counts``).
    """
    found = classify(network, data.held_images, done.model.parameters)
    paper = dict(step_bytes(network, done.batch, Footing()))
    full = dict(step_bytes(network, done.batch, Footing(name="full", state=state)))
    del paper["momentum"]
    if not momentum:
        full["momentum"] = 0
    return {
        "network": network.name,
        "engine": engine,
        "steps": done.step,
        "batch": done.batch,
        "seed": done.seed,
        "loss": list(done.loss),
        "accuracy": float((found == data.held_labels).mean()),
        "images": {"trained": len(data.images), "held_out": len(data.held_images)},
        "state_bits": state,
        "bytes": {"paper": paper, "full": full, "measured": _measured(counts)},
        "cycles": _cycles(counts),
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


def _cycles(counts: Mapping[str, PhaseCounts]) -> dict[str, dict[str, int] | None]:
    """Cycles of the passes, and those in which kernels were loaded before."""
    if not counts:
        return dict.fromkeys((*PHASES, "step"))
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
    screen.print(
        f"{answer['network']}, engine {answer['engine']}: {answer['steps']:,} steps of "
        f"{answer['batch']} images, {losses}"
    )
    screen.print(
        f"accuracy {answer['accuracy']:.2%} of {answer['images']['held_out']:,} held-out images"
    )
    counted = answer["bytes"]
    footings = [counted["paper"], counted["full"]]
    columns = ["phase", "paper footing", "full footing"]
    caption = f"From the closed form, state of {answer['state_bits']}; velocities, apart: "
    caption += f"{fixed(counted['full']['momentum'] / 1e6, 3)} MB."
    if measured := counted["measured"]:
        footings.append(measured["full"])
        columns += ["on the ports", "cycles"]
        caption += " On the ports deltas are at full resolution. Cycles: and those of loading."
    rows = []
    for phase in (*PHASES, "step"):
        row = ["total" if phase == "step" else phase]
        row += [fixed(each[phase] / 1e6, 3) for each in footings]
        if cycles := answer["cycles"][phase]:
            row.append(f"{cycles['total']:,} + {cycles['kernel_load']:,}")
        rows.append(row)
    screen.print(table("Traffic of one step, MB", columns, rows, totals=1, caption=caption))
