"""Tables of the report about a plan: passes on a board, and the bitstreams that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from merp.models.fpga.resources import KINDS, TITLES, capacity
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PlannedPhase
from merp.tools.machines.cnn_merp.plan.answer import plan_json
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.machines.cnn_merp.report.tiles import confirmed
from merp.tools.report.table import LAYER, MEASURED, MODELLED, PHASE, Column, Table


def plan_text(plan: NetworkPlan) -> str:
    """Return the introduction to the tables."""
    loads = f"{plan.loads} bitstream{'' if plan.loads == 1 else 's'}"
    return (
        f"Every layer and phase in passes whose designs fit the {plan.board.part.name}, on board "
        f"{plan.board.name}. With {loads} loaded in {plan.loading:.3f} s, a step takes "
        f"{plan.seconds:.3f} s, {plan.images_per_second:,.1f} images a second."
    )


def plan_table(choice: PlannedChoice, plan: NetworkPlan) -> Table:
    """Return every layer and phase on the board; the last rows are sums."""
    answer, board = plan_json(plan), plan.board
    sums = {"conv layers": answer["total"]["step"], "all layers": answer["total_all"]["step"]}
    rows = [
        _row(choice, planned, found)
        for planned, found in zip(plan.layers, answer["layers"], strict=True)
    ]
    totals = [
        {"layer": name, "phase": "step", "bytes_basis": _basis_of(rows, kinds), **figures}
        for (name, figures), kinds in zip(sums.items(), (("conv",), ("conv", "fc")), strict=True)
        if figures["operations"]
    ]
    return Table(
        id="plan",
        title="Passes",
        caption=(
            f"Count board, state pooled. Maps and parts of one group; passes of all groups, "
            f"output parts in the outer loop, input parts in the inner loop. Batch {plan.batch}, "
            f"{board.clock_mhz:g} MHz, {board.gbytes_s:g} GB/s with an assumed efficiency of "
            f"{board.efficiency:.0%}. Cycles are modelled: slots or words of the slowest port, "
            "and kernels. Bytes are measured if every pass ran in a simulation with the same "
            "number of images and correct bits."
        ),
        columns=[
            LAYER,
            PHASE,
            Column(key="design", label="design"),
            Column(key="binds", label="bound by"),
            Column(key="input_maps", label="maps in", digits=0),
            Column(key="input_part", label="in a part", digits=0),
            Column(key="output_maps", label="maps out", digits=0),
            Column(key="output_part", label="in a part", digits=0),
            Column(key="passes", label="passes", digits=0),
            Column(key="bytes", label="bytes", unit="MB", digits=2, scale=1e6, basis="bytes_basis"),
            Column(key="mb_per_gflop", label="traffic", unit="MB/GFlop", digits=3),
            Column(key="cycles", label="cycles", unit="millions", digits=2, scale=1e6),
            Column(key="seconds", label="time", unit="s", digits=4),
            Column(key="hardware", label="hardware"),
            Column(key="confirmed", label="confirmed"),
        ],
        rows=[*rows, *totals],
        totals=len(totals),
    )


def _row(choice: PlannedChoice, planned: PlannedPhase, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of ``merp plan`` with the findings of simulations."""
    shown = {"layer": answer["name"], "phase": answer["phase"].upper()}
    return {
        **answer,
        **shown,
        "hardware": "yes" if planned.work.built else "not yet",
        "bytes_basis": MEASURED if choice.shown(planned) else MODELLED,
        "confirmed": confirmed(planned, choice.tiles),
    }


def _basis_of(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> str:
    """Return the basis of a sum over the layers of the given kinds."""
    found = {row["bytes_basis"] for row in rows if row["kind"] in kinds}
    return MEASURED if found == {MEASURED} else MODELLED


def bitstreams_table(plan: NetworkPlan) -> Table:
    """Return the resources of each bitstream; the last row is the part itself."""
    rows: list[dict[str, Any]] = [
        {"design": engine.name, "phase": engine.phase.upper(), **engine.resources.figures()}
        for engine in plan.engines
    ]
    rows.append(
        {"design": plan.board.part.name, "phase": "", **capacity(plan.board.part).figures()}
    )
    return Table(
        id="bitstreams",
        title="Bitstreams",
        caption=(
            "Resources of each bitstream; the last row is the part. No count, because no bytes "
            "are counted. Block RAM and DSP by count of the design's memories and multipliers, "
            "LUT and FF estimated."
        ),
        columns=[
            Column(key="design", label="design"),
            PHASE,
            *(
                Column(key=kind, label=TITLES[kind], digits=1 if kind == "bram" else 0)
                for kind in KINDS
            ),
        ],
        rows=rows,
        totals=1,
    )
